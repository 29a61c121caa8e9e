import type { DryRun, Rules } from '../contract.ts';
import { sentence } from './asking.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { createLoader, shown } from './loading.ts';
import type { OpenPage } from './page.ts';
import { addressOf } from './router.ts';
import { subjectText } from './row-words.ts';
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

/** The rules as they are, and a dry run of edited ones; changes nothing. */
export const openRules: OpenPage = (_place, around) => {
  const { api, redraw, say } = around;
  const rules = createLoader<Rules>(() => api.rules(), redraw);
  let edited: string | null = null;
  let last: number = LAST[0];
  let busy = false;
  let tried: DryRun | null = null;
  let problem: string | null = null;

  async function tryOut(yaml: string): Promise<void> {
    busy = true;
    problem = null;
    redraw();
    try {
      tried = await api.dryRun({ yaml, last });
      say(`${counted(tried.changed, 'study', 'studies')} would be treated otherwise.`);
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
        <h2 id="try-head">Try other rules</h2>
        <span class="small soft push">
          Judges studies that came already. The file of the site is changed by its operator.
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
      ${tried ? outcomeView(tried) : nothing}
    </section>`;
  }

  function outcomeView({ studies, changed }: DryRun): TemplateResult {
    const names = (rules: readonly string[]) => (rules.length > 0 ? rules.join(', ') : 'no rule');
    return html`<div class="dry-run">
      <h3>${changed} of ${counted(studies.length, 'study', 'studies')} would be treated otherwise</h3>
      <ul>
        ${studies.map((study) => {
          const [now, then] = [names(study.actsNow), names(study.wouldAct)];
          return html`<li>
            <details>
              <summary>
                <a href=${addressOf('study', { id: study.key })}>${given(subjectText(study.subject))}</a>
                <span class="soft">${momentText(study.arrivedAt)}</span>
                ${now === then ? html`<span class="soft">${given(now)}</span>` : html`${chip('attention', 'Otherwise')} ${given(now)} → <strong>${given(then)}</strong>`}
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
    view: () => html`<div class="page-head"><h1 tabindex="-1">Rules</h1></div>
      ${shown(rules, (value) => html`${currentView(value)} ${editorView(value)}`)}`,
  };
};
