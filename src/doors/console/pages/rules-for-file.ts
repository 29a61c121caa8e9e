import type { FileOutcome, Rules } from '../contract.ts';
import { sentence } from './asking.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import type { Surroundings } from './page.ts';
import { verdictsView } from './verdicts.ts';
import { given } from './words.ts';

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
export function createRulesForFile({
  api,
  redraw,
  say,
}: Pick<Surroundings, 'api' | 'redraw' | 'say'>) {
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
