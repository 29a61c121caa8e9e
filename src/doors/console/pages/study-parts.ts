import type {
  Artifact,
  ResultView,
  Section,
  SectionStatus,
  StudyPage,
  WorklistRow,
} from '../contract.ts';
import { artifactUrl } from './api.ts';
import { weeksText } from './growth-chart.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { addressOf } from './router.ts';
import {
  daText,
  endpointText,
  stateChip,
  subjectDetail,
  subjectText,
  waitingView,
} from './row-words.ts';
import { chip, counted, given, momentText, type Tone } from './words.ts';

/** A mark shown with every result, because nobody has verified the result. */
function draftMark(): TemplateResult {
  return chip('attention', 'Draft, not verified');
}

function part(title: string, lines: readonly string[]): TemplateResult | typeof nothing {
  if (lines.length === 0) return nothing;
  return html`<h3>${title}</h3>
    <ul class="prose">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}

function folded(title: string, lines: readonly string[]): TemplateResult | typeof nothing {
  if (lines.length === 0) return nothing;
  return html`<details>
    <summary>${title} (${lines.length})</summary>
    <ul class="prose small">${lines.map((line) => html`<li>${line}</li>`)}</ul>
  </details>`;
}

/** The text of the report as in the PDF: impression first, limitations last. */
export function reportView({ report, models }: ResultView): TemplateResult | typeof nothing {
  if (!report) return nothing;
  return html`<section class="panel report" id="report" aria-labelledby="report-head">
    <header><h2 id="report-head">${report.title}</h2><span class="push">${draftMark()}</span></header>
    ${part('Impression', report.impression)}
    ${folded('Findings', report.findings)} ${folded('Limitations', report.limitations)}
    <details>
      <summary>Models (${models.length})</summary>
      <ul class="prose small">
        ${models.map(
          ({ id, version, licence, pack, provider }) =>
            html`<li>${id} ${version}, ${licence}, pack ${pack}, on ${provider}</li>`,
        )}
      </ul>
    </details>
  </section>`;
}

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

/** The shown request of the study, if there are several. */
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

/** Patient, study, state and actions; stays in sight while the page is scrolled. */
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

/** What the study waits for, how far the run is, or why there is no result. */
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

/** The received objects. */
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

const UNITS = ['bytes', 'kB', 'MB', 'GB'] as const;

/** Pure: a size for people, in powers of a thousand. */
export function sizeText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const size = bytes / 1000 ** step;
  return `${step === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${UNITS[step]}`;
}

/** Whether an artifact is a picture. There are many, and the page already shows them. */
const isPicture = ({ name }: Artifact): boolean => /^(key-frame|cine|overlay)-.*\d/.test(name);

function listView(requestId: string, artifacts: readonly Artifact[]): TemplateResult {
  return html`<ul class="artifacts">
    ${artifacts.map(
      ({ name, bytes }) => html`<li>
        <a href=${`${artifactUrl(requestId, name)}?download=1`} download=${name}>${name}</a>
        <span class="small soft">${sizeText(bytes)}</span>
      </li>`,
    )}
  </ul>`;
}

/** The artifacts of the request, for download. */
export function artifactsView(requestId: string, artifacts: readonly Artifact[]): TemplateResult {
  const pictures = artifacts.filter(isPicture);
  const documents = artifacts.filter((artifact) => !isPicture(artifact));
  return html`<section class="panel" id="artifacts" aria-labelledby="artifacts-head">
    <header>
      <h2 id="artifacts-head">Files</h2>
      <span class="small soft push">without identity</span>
    </header>
    ${listView(requestId, documents)}
    ${
      pictures.length > 0
        ? html`<details>
            <summary>${counted(pictures.length, 'picture')}</summary>
            ${listView(requestId, pictures)}
          </details>`
        : nothing
    }
  </section>`;
}

const STATUS = {
  complete: { text: 'Assessed', tone: 'good' },
  partial: { text: 'Partly assessed', tone: 'attention' },
  not_assessed: { text: 'Not assessed', tone: 'quiet' },
  inadequate: { text: 'Images inadequate', tone: 'attention' },
  not_requested: { text: 'Not requested', tone: 'quiet' },
  failed: { text: 'Failed', tone: 'critical' },
} as const satisfies Record<SectionStatus, { text: string; tone: Tone }>;

const SEVERITY = {
  info: null,
  abnormal: { text: 'Abnormal', tone: 'attention' },
  critical: { text: 'Critical', tone: 'critical' },
} as const satisfies Record<string, { text: string; tone: Tone } | null>;

function findingView({ text, severity }: ResultView['findings'][number]): TemplateResult {
  const mark = SEVERITY[severity];
  return html`<li>${mark ? chip(mark.tone, mark.text) : nothing} ${text}</li>`;
}

function classificationView(one: ResultView['classifications'][number]): TemplateResult {
  return html`<details>
    <summary>${one.name}: <strong>${one.value}</strong></summary>
    <p class="small soft">${one.scheme}</p>
    <ul class="criteria">
      ${one.criteria.map(
        ({ name, value, met }) => html`<li>
          <span aria-hidden="true">${met ? '✓' : '–'}</span>
          <span class="hidden-text">${met ? 'met:' : 'not met:'}</span>
          ${name} <span class="soft">${value}</span>
        </li>`,
      )}
    </ul>
  </details>`;
}

function scoreView({
  name,
  value,
  range,
  components,
}: ResultView['scores'][number]): TemplateResult {
  const made = components.map((part) => `${part.name} ${part.value}`).join(', ');
  return html`<p>
    ${name}: <strong>${value}</strong> <span class="soft">of ${range[0]} to ${range[1]}</span>
    ${made ? html`<span class="small soft">${made}</span>` : nothing}
  </p>`;
}

/** Why a section is incomplete, and which views or data it would need. */
function reasonView({ reason }: Section): TemplateResult | typeof nothing {
  if (!reason) return nothing;
  const needs = reason.needs.length > 0 ? ` Needs: ${reason.needs.join(', ')}.` : '';
  return html`<p class="small soft"><strong>Why:</strong> ${reason.detail}${needs}</p>`;
}

function sectionView(section: Section, result: ResultView): TemplateResult {
  const { text, tone } = STATUS[section.status];
  const own = <One extends { section: string }>(all: readonly One[]) =>
    all.filter((one) => one.section === section.id);
  const findings = own(result.findings).filter((finding) => finding.text !== section.summary);
  return html`<li id=${`section-${section.id}`}>
    <div class="row"><h3>${section.title}</h3>${chip(tone, text)}</div>
    ${section.summary ? html`<p>${section.summary}</p>` : nothing} ${reasonView(section)}
    ${findings.length > 0 ? html`<ul class="findings">${findings.map(findingView)}</ul>` : nothing}
    ${own(result.scores).map(scoreView)} ${own(result.classifications).map(classificationView)}
    ${own(result.guidance).map(
      (one) => html`<p class="small">${one.text} <span class="soft">(${one.source})</span></p>`,
    )}
  </li>`;
}

/** Sections that are left out here: the report has its own part of the page. */
const ELSEWHERE = new Set(['report']);

/** Every section of the endpoint: what it found, or why it was not assessed. */
export function sectionsView(result: ResultView): TemplateResult {
  const told = result.sections.filter(({ id }) => !ELSEWHERE.has(id));
  const asked = told.filter(({ status }) => status !== 'not_requested');
  const assessed = asked.filter(({ status }) => status === 'complete' || status === 'partial');
  return html`<section class="panel" id="sections" aria-labelledby="sections-head">
    <header>
      <h2 id="sections-head">Sections</h2>
      <span class="small soft push">${assessed.length} of ${asked.length} assessed</span>
    </header>
    <ul class="sections">${told.map((section) => sectionView(section, result))}</ul>
  </section>`;
}
