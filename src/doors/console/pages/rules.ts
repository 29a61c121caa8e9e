import type { DryRun, Rules } from '../contract.ts';
import { createAsking, sentence } from './asking.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { createLoader, shown } from './loading.ts';
import type { OpenPage } from './page.ts';
import { addressOf } from './router.ts';
import { subjectText } from './row-words.ts';
import { createRulesForFile } from './rules-for-file.ts';
import { verdictsView } from './verdicts.ts';
import { chip, counted, given, momentText } from './words.ts';

/** Describes how many studies of the last day no rule matched. */
function outsideText({ matchedNone, notJudged }: Rules['lastDay']): string {
  const parts = [
    matchedNone > 0 ? `${counted(matchedNone, 'study', 'studies')} matched none` : '',
    notJudged > 0 ? `${counted(notJudged, 'study', 'studies')} not judged by them` : '',
  ].filter((part) => part !== '');
  return parts.length > 0 ? `Of the last day: ${parts.join(', ')}.` : '';
}

const LAST = [20, 50, 200, 500] as const;
/** Milliseconds after which the gateway has read a changed settings file again. */
const SEEN_MS = 2500;

/** Opens the page of the current rules, where a person can edit, test and save them. */
export const openRules: OpenPage = (_place, around) => {
  const { api, redraw, say } = around;
  const rules = createLoader<Rules>(() => api.rules(), redraw);
  const forFile = createRulesForFile(around);
  let edited: string | null = null;
  let last: number = LAST[0];
  let busy = false;
  let tried: DryRun | null = null;
  /** The text that was tested. Only this text may be saved. */
  let triedText = '';
  let saved: string | null = null;
  const asking = createAsking(around);
  let problem: string | null = null;

  async function tryOut(yaml: string): Promise<void> {
    busy = true;
    problem = null;
    redraw();
    try {
      tried = await api.dryRun({ yaml, last });
      triedText = yaml;
      saved = null;
      say(`${counted(tried.changed, 'study', 'studies')} would be treated differently.`);
    } catch (error) {
      tried = null;
      problem = sentence(error);
    }
    busy = false;
    redraw();
  }

  function ruleView(rule: Rules['rules'][number], lastDay: Rules['lastDay']): TemplateResult {
    const studies = lastDay.byRule.find((one) => one.rule === rule.name)?.studies ?? 0;
    return html`<tr>
      <th scope="row">${given(rule.name)}</th>
      <td>
        ${
          rule.conditions.length > 0
            ? html`<ul>${rule.conditions.map((text) => html`<li>${given(text)}</li>`)}</ul>`
            : html`<span class="soft">every study</span>`
        }
      </td>
      <td>
        ${given(rule.does)}
        ${rule.deliverTo.length > 0 ? html`<span class="second">to ${rule.deliverTo.join(', ')}</span>` : nothing}
        ${rule.tags.length > 0 ? html`<span class="second">tags ${rule.tags.join(', ')}</span>` : nothing}
      </td>
      <td class="number">${studies}</td>
    </tr>`;
  }

  function currentView({ match, rules: all, lastDay }: Rules): TemplateResult {
    return html`<section class="panel" aria-labelledby="current-head">
      <header>
        <h2 id="current-head">Rules in use</h2>
        <span class="small soft push">
          ${match === 'first' ? 'The first that matches acts.' : 'All that match act.'}
          ${outsideText(lastDay)}
        </span>
      </header>
      <div class="scrolls">
        <table>
          <thead>
            <tr>
              <th scope="col">Rule</th>
              <th scope="col">When</th>
              <th scope="col">Does</th>
              <th scope="col" class="number">Last day</th>
            </tr>
          </thead>
          <tbody>${all.map((rule) => ruleView(rule, lastDay))}</tbody>
        </table>
      </div>
    </section>`;
  }

  function editorView({ yaml }: Rules): TemplateResult {
    const text = edited ?? yaml;
    return html`<section class="panel" aria-labelledby="try-head">
      <header>
        <h2 id="try-head">Edit the rules</h2>
        <span class="small soft push">
          Tried on studies that have arrived already; saved only when you say so.
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
              }}>As in use</button>`
            : nothing
        }
      </div>
      ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
      ${saved ? html`<p class="notice" role="status">${given(saved)}</p>` : nothing}
      ${tried && text === triedText ? saveView(text, tried) : nothing}
      ${tried ? outcomeView(tried) : nothing}
    </section>`;
  }

  /** Shows how to save tested rules, or how to download them if the gateway cannot save them. */
  function saveView(text: string, { changed, studies }: DryRun): TemplateResult | typeof nothing {
    const inUse = rules.value;
    if (!inUse || text === inUse.yaml) return nothing;
    // Writing to a file may fail even if the file exists, so the download is always offered.
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
        saved = `Saved. The former file is kept as ${kept}. The rules act within seconds.`;
        setTimeout(() => void rules.load(), SEEN_MS);
        return saved;
      },
    });
    return html`<div class="row">${save} ${download}</div>`;
  }

  function outcomeView({ studies, changed }: DryRun): TemplateResult {
    const names = (rules: readonly string[]) => (rules.length > 0 ? rules.join(', ') : 'no rule');
    return html`<div class="dry-run">
      <h3>${changed} of ${counted(studies.length, 'study', 'studies')} would be treated differently</h3>
      <ul>
        ${studies.map((study) => {
          const [now, then] = [names(study.actsNow), names(study.wouldAct)];
          return html`<li>
            <details>
              <summary>
                <a href=${addressOf('study', { id: study.key })}>${given(subjectText(study.subject))}</a>
                <span class="soft">${momentText(study.arrivedAt)}</span>
                ${now === then ? html`<span class="soft">${given(now)}</span>` : html`${chip('attention', 'Differently')} ${given(now)} → <strong>${given(then)}</strong>`}
              </summary>
              ${verdictsView(study.verdicts)}
            </details>
          </li>`;
        })}
      </ul>
    </div>`;
  }

  void rules.load();

  return {
    title: () => 'Rules',
    view: () => html`<div
      class="rules"
      @dragover=${(event: DragEvent) => event.preventDefault()}
      @drop=${(event: DragEvent) => {
        event.preventDefault();
        const { value } = rules;
        const file = event.dataTransfer?.files[0] ?? null;
        if (value) void forFile.judge(file, edited ?? value.yaml, value);
      }}
    >
      <div class="page-head"><h1 tabindex="-1">Rules</h1></div>
      ${shown(
        rules,
        (value) => html`${currentView(value)} ${forFile.view(edited ?? value.yaml, value)}
          ${editorView(value)}`,
      )}
    </div>`,
  };
};
