import type { ResultView, StudyPage, WorklistRow } from '../contract.ts';
import { weeksText } from './growth-chart.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { draftMark } from './report-draft.ts';
import { addressOf } from './router.ts';
import {
  daText,
  endpointText,
  stateChip,
  subjectDetail,
  subjectText,
  waitingView,
} from './row-words.ts';
import { momentText } from './times.ts';
import { chip, counted, given } from './words.ts';

export interface Head {
  actions: TemplateResult;
  result: ResultView | null;
  /** The request that is shown, and how another is chosen. */
  chosen: string | null;
  choose(request: string): void;
}

const PARTS = [
  ['images', 'Images'],
  ['report', 'Report'],
  ['measurements', 'Measurements'],
  ['sections', 'Sections'],
  ['timeline', 'Timeline'],
  ['deliveries', 'Deliveries'],
] as const;

function aboutText({ row, study }: StudyPage, result: ResultView | null): string {
  const { subject } = row;
  const seen = subject?.shown === 'identity' ? subject : null;
  const age = result?.gestationalAge;
  return [
    subjectDetail(subject),
    seen?.studyDescription ?? '',
    seen?.accessionNumber ? `accession ${seen.accessionNumber}` : '',
    seen?.studyDate ? `examined ${daText(seen.studyDate)}` : '',
    age ? `${weeksText(age.days / 7)} weeks by ${age.basis}` : '',
    `from ${row.source}`,
    study ? counted(study.objects.length, 'object') : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Which request of the study is shown, where there are several. */
function revisions(
  { requests }: StudyPage,
  { chosen, choose }: Head,
): TemplateResult | typeof nothing {
  const finished = requests.filter(({ state }) => state === 'succeeded');
  if (finished.length < 2) return nothing;
  return html`<label class="small">
    Draft
    <select
      @change=${(event: Event) => {
        if (event.target instanceof HTMLSelectElement) choose(event.target.value);
      }}
    >
      ${finished.map(
        ({ id, revision, endedAt }) => html`<option value=${id} ?selected=${id === chosen}>
          ${revision === null ? 'of' : `${revision}, `}${endedAt ? momentText(endedAt) : ''}
        </option>`,
      )}
    </select>
  </label>`;
}

/** Who, what, where it stands and what can be done; stays in sight while the page is scrolled. */
export function headView(page: StudyPage, head: Head): TemplateResult {
  const { row } = page;
  return html`<header class="study-head">
    <div class="row">
      <h1 tabindex="-1">${given(subjectText(row.subject))}</h1>
      <span class="kind">${endpointText(row.endpoint)}</span>
      ${stateChip(row.state)} ${head.result || row.glance ? draftMark() : nothing}
      ${row.test ? chip('quiet', 'Test, not from images') : nothing}
      ${revisions(page, head)}
      <div class="row push">${head.actions}</div>
    </div>
    <div class="row about">
      <p class="small soft" title=${aboutText(page, head.result)}>${given(aboutText(page, head.result))}</p>
      ${
        head.result
          ? html`<nav class="push" aria-label="Parts of this page">
              <ul class="row small">
                ${PARTS.map(([id, text]) => html`<li><a href=${`#${id}`}>${text}</a></li>`)}
              </ul>
            </nav>`
          : nothing
      }
    </div>
  </header>`;
}

/** Critical flags, and who has seen them. */
export function flagsView({
  critical,
  acknowledged,
}: WorklistRow): TemplateResult | typeof nothing {
  if (critical.length === 0) return nothing;
  return html`<section class=${acknowledged ? 'flags seen' : 'flags'} aria-label="Critical flags">
    <ul>
      ${critical.map(
        ({ text, at }) => html`<li>${chip('critical', 'Critical')} ${text}
        <span class="small soft">${momentText(at)}</span></li>`,
      )}
    </ul>
    <p class="small">
      ${
        acknowledged
          ? html`Seen by ${given(acknowledged.person)}, ${momentText(acknowledged.at)}`
          : 'Nobody has said yet that they have seen this.'
      }
    </p>
  </section>`;
}

/** What it waits for, how far the run is, or why there is no result. */
export function progressView({ row, requests }: StudyPage): TemplateResult | typeof nothing {
  const error = requests[0]?.error;
  const failed = ['failed', 'rejected'].includes(row.state) && error;
  const waiting = waitingView(row, new Date());
  if (failed) {
    return html`<section class="panel" aria-label="Why there is no result">
      <p class="problem"><strong>${error.title}</strong> ${given(error.detail)}</p>
    </section>`;
  }
  if (waiting === nothing || row.state === 'succeeded') return nothing;
  return html`<section class="panel progress-part" aria-label="Progress">${waiting}</section>`;
}

/** What came over the network. */
export function objectsView(study: NonNullable<StudyPage['study']>): TemplateResult {
  return html`<section class="panel" id="objects" aria-labelledby="objects-head">
    <details>
      <summary id="objects-head">${counted(study.objects.length, 'object')} from
        ${given(study.callingAeTitle)} to ${given(study.calledAeTitle)}</summary>
      <ul class="objects small">
        ${study.objects.map(
          ({ file, sopClass, frames, conflict, revision }) => html`<li>
            <code>${file}</code> ${sopClass}, ${counted(frames, 'frame')}
            ${revision > 1 ? html`<span class="soft">came later (${revision})</span>` : nothing}
            ${conflict ? chip('attention', 'Conflicts with another object') : nothing}
          </li>`,
        )}
      </ul>
    </details>
  </section>`;
}

/** Other studies of the patient. */
export function earlierView({ earlier }: StudyPage): TemplateResult | typeof nothing {
  if (earlier.length === 0) return nothing;
  return html`<section class="panel" id="earlier" aria-labelledby="earlier-head">
    <header><h2 id="earlier-head">Other studies of this patient</h2></header>
    <ul class="artifacts">
      ${earlier.map(
        ({ key, arrivedAt, endpoint, state }) => html`<li>
          <a href=${addressOf('study', { id: key })}>${endpointText(endpoint)}, ${momentText(arrivedAt)}</a>
          ${stateChip(state)}
        </li>`,
      )}
    </ul>
  </section>`;
}
