import type { ConditionWords, FileOutcome, Rules } from '../contract.ts';
import { sentence } from './asking.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { createLoader, shown } from './loading.ts';
import type { OpenPage, Surroundings } from './page.ts';
import { RulesEditor } from './rules-editor.ts';
import { verdictsView } from './verdicts.ts';
import { counted, given } from './words.ts';

/**
 * Describes the last day's studies on which no rule acted: how many matched no rule, and how many
 * the rules did not route, for example because a person holds them.
 */
function outsideText({ matchedNone, notJudged }: Rules['lastDay']): string {
  const parts = [
    matchedNone > 0 ? `${counted(matchedNone, 'study', 'studies')} matched none` : '',
    notJudged > 0 ? `${counted(notJudged, 'study', 'studies')} not routed by them` : '',
  ].filter((part) => part !== '');
  return parts.length > 0 ? `In the last day: ${parts.join(', ')}.` : '';
}

/** Milliseconds within which the gateway rereads a changed settings file. */
const SEEN_MS = 2500;

/** Opens the rules page, where a person can see, edit, try and save the current rules. */
export const openRules: OpenPage = (_place, around) => {
  const rules = createLoader<Rules>(() => around.api.rules(), around.redraw);
  const forFile = createRulesForFile(around);
  const editor = new RulesEditor(around, () => {
    setTimeout(() => void rules.load(), SEEN_MS);
  });
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
        if (value) void forFile.judge(file, editor.textOf(value), value);
      }}
    >
      <div class="page-head"><h1 tabindex="-1">Rules</h1></div>
      ${shown(
        rules,
        (value) => html`${currentView(value)} ${forFile.view(editor.textOf(value), value)}
          ${editor.view(value)}`,
      )}
    </div>`,
  };
};

/** Renders conditions as a list, with the parts of a combined condition below it. */
function conditionsView(conditions: readonly ConditionWords[]): TemplateResult {
  return html`<ul class="conditions">
    ${conditions.map(
      ({ text, pattern, parts }) => html`<li>
        ${given(text)} ${pattern ? html`<code>${pattern}</code>` : nothing}
        ${parts ? conditionsView(parts) : nothing}
      </li>`,
    )}
  </ul>`;
}

function ruleView(rule: Rules['rules'][number], lastDay: Rules['lastDay']): TemplateResult {
  const studies = lastDay.byRule.find((one) => one.rule === rule.name)?.studies ?? 0;
  return html`<tr>
    <th scope="row">${given(rule.name)}</th>
    <td data-label="When">
      ${
        rule.conditions.length > 0
          ? conditionsView(rule.conditions)
          : html`<span class="soft">every study</span>`
      }
    </td>
    <td data-label="Does">
      ${given(rule.does)}
      ${rule.deliverTo.length > 0 ? html`<span class="second">to ${rule.deliverTo.join(', ')}</span>` : nothing}
      ${rule.tags.length > 0 ? html`<span class="second">tags ${rule.tags.join(', ')}</span>` : nothing}
    </td>
    <td data-label="Studies in the last day" class="number">${studies}</td>
  </tr>`;
}

function currentView({ match, rules: all, lastDay }: Rules): TemplateResult {
  return html`<section class="panel" aria-labelledby="current-head">
    <header>
      <h2 id="current-head">Rules in use</h2>
      <span class="small soft push">
        ${match === 'first' ? 'The first matching rule applies.' : 'All matching rules apply.'}
        ${outsideText(lastDay)}
      </span>
    </header>
    <div class="scrolls">
      <table class="as-cards">
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">When</th>
            <th scope="col">Does</th>
            <th scope="col" class="number">Studies in the last day</th>
          </tr>
        </thead>
        <tbody>${all.map((rule) => ruleView(rule, lastDay))}</tbody>
      </table>
    </div>
  </section>`;
}

function base64Of(blob: Blob): Promise<string> {
  const reader = new FileReader();
  return new Promise((resolve, reject) => {
    reader.addEventListener('load', () => resolve(String(reader.result).replace(/^.*,/, '')));
    reader.addEventListener('error', () => reject(reader.error));
    reader.readAsDataURL(blob);
  });
}

/** Describes in a sentence which rules would act on a file. */
export function takenText({ wouldAct, open }: Pick<FileOutcome, 'wouldAct' | 'open'>): string {
  if (open)
    return 'This depends on what the images show, which is determined when a study arrives.';
  if (wouldAct.length === 0) return 'No rule applies.';
  return `Handled by ${wouldAct.join(', ')}.`;
}

/** Shows which rules would act on a DICOM file. Only its header is read, and nothing is stored. */
function createRulesForFile({ api, redraw, say }: Pick<Surroundings, 'api' | 'redraw' | 'say'>) {
  let source = '';
  let file: File | null = null;
  let outcome: FileOutcome | null = null;
  let problem: string | null = null;

  /**
   * Applies the rules to a file.
   * @param yaml the rules to try, as they are in the editor.
   */
  async function judge(next: File | null, yaml: string, { fileStartBytes }: Rules): Promise<void> {
    file = next;
    outcome = null;
    problem = null;
    redraw();
    if (!next) return;
    try {
      const start = await base64Of(next.slice(0, fileStartBytes));
      const found = await api.dryRunFile({ yaml, source, start, bytes: next.size });
      if (file !== next) return;
      outcome = found;
      say(takenText(found));
    } catch (error) {
      problem = sentence(error);
    }
    redraw();
  }

  return {
    judge,
    view(yaml: string, rules: Rules): TemplateResult {
      const chosen = ({ target }: Event) => {
        if (!(target instanceof HTMLInputElement)) return;
        void judge(target.files?.[0] ?? null, yaml, rules);
        target.value = '';
      };
      return html`<section class="panel" aria-labelledby="file-head">
        <header>
          <h2 id="file-head">Which rule applies to a file</h2>
          <span class="small soft push">Only the header is read; nothing is stored.</span>
        </header>
        <div class="row">
          <label class="button">
            Choose a DICOM file
            <input class="hidden-text" type="file" accept=".dcm,application/dicom,*/*" @change=${chosen} />
          </label>
          <span class="small soft">or drop one on this page; treat it as sent by</span>
          <select
            aria-label="Sent by"
            @change=${({ target }: Event) => {
              if (!(target instanceof HTMLSelectElement)) return;
              source = target.value;
              void judge(file, yaml, rules);
            }}
          >
            <option value="">any source</option>
            ${rules.sources.map((name) => html`<option ?selected=${name === source}>${name}</option>`)}
          </select>
        </div>
        ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
        ${file && outcome ? outcomeView(file.name, outcome) : nothing}
      </section>`;
    },
  };
}

function outcomeView(name: string, outcome: FileOutcome): TemplateResult {
  const about = [outcome.sopClass, outcome.modality, outcome.studyDescription];
  return html`<div class="dry-run" role="status">
    <h3>${given(takenText(outcome))}</h3>
    <p class="small soft">${given([name, ...about].filter(Boolean).join(' · '))}</p>
    ${verdictsView(outcome.verdicts)}
  </div>`;
}
