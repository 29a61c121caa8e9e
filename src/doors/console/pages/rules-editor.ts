import type { DryRun, Rules } from '../contract.ts';
import { createAsking, sentence } from './asking.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import type { Surroundings } from './page.ts';
import { addressOf } from './router.ts';
import { subjectText } from './row-words.ts';
import { verdictsView } from './verdicts.ts';
import { chip, counted, given, momentText } from './words.ts';

const LAST = [20, 50, 200, 500] as const;

/**
 * Lets a person edit the rules, try them on past studies, and save them.
 * @param saved is called once the rules have been saved; the gateway reads them a moment later.
 */
export function createRulesEditor(
  { api, redraw, say }: Pick<Surroundings, 'api' | 'redraw' | 'say'>,
  saved: () => void,
) {
  const asking = createAsking({ redraw, say });
  let edited: string | null = null;
  let last: number = LAST[0];
  let busy = false;
  let tried: DryRun | null = null;
  /** The text that was tried. Only this text may be saved. */
  let triedText = '';
  let notice: string | null = null;
  let problem: string | null = null;

  const textOf = ({ yaml }: Rules): string => edited ?? yaml;

  async function tryOut(yaml: string): Promise<void> {
    busy = true;
    problem = null;
    redraw();
    try {
      tried = await api.dryRun({ yaml, last });
      triedText = yaml;
      notice = null;
      say(`${counted(tried.changed, 'study', 'studies')} would be treated differently.`);
    } catch (error) {
      tried = null;
      problem = sentence(error);
    }
    busy = false;
    redraw();
  }

  function view(rules: Rules): TemplateResult {
    const { yaml } = rules;
    const text = textOf(rules);
    return html`<section class="panel" aria-labelledby="try-head">
      <header>
        <h2 id="try-head">Edit the rules</h2>
        <span class="small soft push">
          The dry run uses studies that have already arrived; nothing is saved until you save it.
        </span>
      </header>
      <textarea
        rows="14"
        spellcheck="false"
        aria-label="Rules as YAML"
        .value=${text}
        @input=${(event: Event) => {
          if (event.target instanceof HTMLTextAreaElement) edited = event.target.value;
          redraw();
        }}
      ></textarea>
      <div class="row">
        <label class="row small">
          Last
          <select
            @change=${(event: Event) => {
              if (event.target instanceof HTMLSelectElement) last = Number(event.target.value);
            }}
          >
            ${LAST.map((count) => html`<option ?selected=${count === last}>${count}</option>`)}
          </select>
          studies
        </label>
        <button type="button" class="primary" ?disabled=${busy} @click=${() => void tryOut(text)}>
          ${busy ? 'Trying…' : 'Dry run'}
        </button>
        ${
          edited !== null && edited !== yaml
            ? html`<button type="button" class="plain" @click=${() => {
                edited = null;
                tried = null;
                redraw();
              }}>Discard changes</button>`
            : nothing
        }
      </div>
      ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
      ${notice ? html`<p class="notice" role="status">${given(notice)}</p>` : nothing}
      ${tried && text === triedText ? saveView(text, tried, rules) : nothing}
      ${tried ? outcomeView(tried) : nothing}
    </section>`;
  }

  /**
   * Renders the save button and a download link for tried rules; only the link if the gateway has
   * no settings file.
   */
  function saveView(
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
    const save = asking.view({
      id: 'save',
      label: 'Save these rules',
      question: `Replace the rules in use? ${changed} of the last ${counted(studies.length, 'study', 'studies')} would have been treated differently.`,
      confirm: 'Save',
      async run() {
        const { kept } = await api.saveRules({ yaml: text });
        tried = null;
        edited = null;
        notice = `Saved. The previous file is kept as ${kept}. The new rules take effect within seconds.`;
        saved();
        return notice;
      },
    });
    return html`<div class="row">${save} ${download}</div>`;
  }

  return { textOf, view };
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
