import type { DryRun, Rules } from '../contract.ts';
import { type Asking, createAsking, sentence } from './asking.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import type { Surroundings } from './page.ts';
import { addressOf } from './router.ts';
import { subjectText } from './row-words.ts';
import { verdictsView } from './verdicts.ts';
import { chip, counted, given, momentText } from './words.ts';

const LAST = [20, 50, 200, 500] as const;

type EditorParts = Pick<Surroundings, 'api' | 'session' | 'redraw' | 'say'>;

const STORED_AS = 'sonogate-rules';

interface Draft {
  edited: string;
  /** The text of the rules in use when the person began to edit. */
  basis: string;
  person: string;
}

/**
 * Returns the text that this person was editing in this tab when the session ended or the page was
 * left.
 */
function keptDraft(person: string): Draft | null {
  const stored: Draft | null = JSON.parse(sessionStorage.getItem(STORED_AS) ?? 'null');
  return stored?.person === person ? stored : null;
}

/** Lets a person edit the rules, try them on past studies, and save them. */
export class RulesEditor {
  readonly #parts: EditorParts;
  readonly #saved: () => void;
  readonly #asking: Asking;
  /** Null while the text equals that of the rules in use. */
  #draft: Draft | null;
  #last: number = LAST[0];
  #busy = false;
  #tried: DryRun | null = null;
  /** The text that was tried. Only this text may be saved. */
  #triedText = '';
  #notice: string | null;
  #problem: string | null = null;

  /** @param saved is called once the rules have been saved; the gateway reads them a moment later. */
  constructor(parts: EditorParts, saved: () => void) {
    this.#parts = parts;
    this.#saved = saved;
    this.#asking = createAsking(parts);
    this.#draft = keptDraft(parts.session.person);
    this.#notice = this.#draft && 'These are your earlier changes. They are not saved yet.';
  }

  textOf({ yaml }: Rules): string {
    return this.#draft?.edited ?? yaml;
  }

  view(rules: Rules): TemplateResult {
    const text = this.textOf(rules);
    const tried = this.#tried;
    const problem = this.#problem;
    const notice = this.#notice;
    return html`<section class="panel" aria-labelledby="try-head">
      <header>
        <h2 id="try-head">Edit the rules</h2>
        <span class="small soft push">
          The dry run uses studies that have already arrived; nothing is saved until you save it.
        </span>
      </header>
      <textarea
        rows="14"
        wrap="off"
        spellcheck="false"
        aria-label="Rules as YAML"
        .value=${text}
        @input=${(event: Event) => {
          if (event.target instanceof HTMLTextAreaElement) this.#edit(event.target.value, rules);
          this.#parts.redraw();
        }}
      ></textarea>
      ${this.#tryView(text, rules)}
      ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
      ${notice ? html`<p class="notice" role="status">${given(notice)}</p>` : nothing}
      ${tried && text === this.#triedText ? this.#saveView(text, tried, rules) : nothing}
      ${tried ? outcomeView(tried) : nothing}
    </section>`;
  }

  #tryView(text: string, { yaml }: Rules): TemplateResult {
    return html`<div class="row">
        <label class="row small">
          Last
          <select
            @change=${(event: Event) => {
              if (event.target instanceof HTMLSelectElement)
                this.#last = Number(event.target.value);
            }}
          >
            ${LAST.map((count) => html`<option ?selected=${count === this.#last}>${count}</option>`)}
          </select>
          studies
        </label>
        <button type="button" class="primary" ?disabled=${this.#busy} @click=${() => void this.#tryOut(text)}>
          ${this.#busy ? 'Trying…' : 'Dry run'}
        </button>
        ${
          text !== yaml
            ? html`<button type="button" class="plain" @click=${() => this.#discard()}>Discard changes</button>`
            : nothing
        }
      </div>`;
  }

  async #tryOut(yaml: string): Promise<void> {
    const { api, redraw, say } = this.#parts;
    this.#busy = true;
    this.#problem = null;
    redraw();
    try {
      const tried = await api.dryRun({ yaml, last: this.#last });
      this.#tried = tried;
      this.#triedText = yaml;
      this.#notice = null;
      say(`${counted(tried.changed, 'study', 'studies')} would be treated differently.`);
    } catch (error) {
      this.#tried = null;
      this.#problem = sentence(error);
    }
    this.#busy = false;
    redraw();
  }

  #edit(text: string, { yaml }: Rules): void {
    const { person } = this.#parts.session;
    if (text === yaml) {
      this.#forget();
      return;
    }
    this.#draft = { edited: text, basis: this.#draft?.basis ?? yaml, person };
    sessionStorage.setItem(STORED_AS, JSON.stringify(this.#draft));
  }

  #forget(): void {
    this.#draft = null;
    sessionStorage.removeItem(STORED_AS);
  }

  #discard(): void {
    this.#forget();
    this.#tried = null;
    this.#notice = null;
    this.#parts.redraw();
  }

  /**
   * Renders the save button and a download link for tried rules; only the link if the gateway has
   * no settings file.
   */
  #saveView(
    text: string,
    { changed, studies }: DryRun,
    inUse: Rules,
  ): TemplateResult | typeof nothing {
    if (text === inUse.yaml) return nothing;
    // Writing the settings file may fail even if it exists, so the download is always offered.
    const download = html`<a class="button" download="routing.yaml" href=${`data:application/yaml,${encodeURIComponent(text)}`}>Download these rules</a>`;
    if (!inUse.canSave) {
      return html`<p class="row">The gateway runs without a settings file. ${download}</p>`;
    }
    const save = this.#asking.view({
      id: 'save',
      label: 'Save these rules',
      question: `Replace the rules in use? ${changed} of the last ${counted(studies.length, 'study', 'studies')} would have been treated differently.`,
      confirm: 'Save',
      run: () => this.#save(text),
    });
    return html`<div class="row">${save} ${download}</div>`;
  }

  async #save(yaml: string): Promise<string> {
    const basis = this.#draft?.basis ?? '';
    const { kept } = await this.#parts.api.saveRules({ yaml, basis });
    this.#forget();
    this.#tried = null;
    this.#notice = `Saved. The previous file is kept as ${kept}. The new rules take effect within seconds.`;
    this.#saved();
    return this.#notice;
  }
}

/**
 * Renders, for each study of a dry run, which rules act on it now and which edited rules would act.
 */
function outcomeView({ studies, changed }: DryRun): TemplateResult {
  const names = (rules: readonly string[]) => (rules.length > 0 ? rules.join(', ') : 'no rule');
  return html`<div class="dry-run">
    <h3>${changed} of ${counted(studies.length, 'study', 'studies')} would be treated differently</h3>
    <ul>
      ${studies.map((study) => {
        const [now, then] = [names(study.actsNow), names(study.wouldAct)];
        return html`<li>
          <a href=${addressOf('study', { id: study.key })}>${given(subjectText(study.subject))}</a>
          <span class="soft">${momentText(study.arrivedAt)}</span>
          <details>
            <summary>
              ${now === then ? html`<span class="soft">${given(now)}</span>` : html`${chip('attention', 'Differently')} ${given(now)} → <strong>${given(then)}</strong>`}
            </summary>
            ${verdictsView(study.verdicts)}
          </details>
        </li>`;
      })}
    </ul>
  </div>`;
}
