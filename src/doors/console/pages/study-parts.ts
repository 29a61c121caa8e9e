import type {
  Artifact,
  KeyValue,
  RequestSummary,
  ResultView,
  Section,
  SectionStatus,
  ShownReview,
  StudyPage,
  WorklistRow,
} from '../contract.ts';
import { artifactUrl } from './api.ts';
import { weeksText } from './growth-chart.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { INTERPRETED, rangeText } from './measurements.ts';
import { objectText, withRevision } from './object-names.ts';
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

const REVIEWED = {
  draft: { text: 'Draft, not verified', tone: 'attention' },
  'in-review': { text: 'Draft, in review', tone: 'attention' },
  signed: { text: 'Signed', tone: 'good' },
  amended: { text: 'Signed, amended', tone: 'good' },
  withdrawn: { text: 'Withdrawn', tone: 'critical' },
} as const satisfies Record<ShownReview, { text: string; tone: Tone }>;

function draftMark(review: ShownReview | null = null): TemplateResult {
  const { text, tone } = REVIEWED[review ?? 'draft'];
  return chip(tone, text);
}

function part(title: string, lines: readonly string[]): TemplateResult | typeof nothing {
  if (lines.length === 0) return nothing;
  return html`<h3>${title}</h3>
    <ul class="prose">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}

/** Renders what matters first: the impression, and the values on which it is based. */
export function summaryView(
  { impression, keyValues, prior }: ResultView,
  measurements: ResultView['measurements'],
  show: (value: KeyValue) => void,
): TemplateResult {
  return html`<section class="panel summary" id="summary" aria-labelledby="summary-head">
    <header><h2 id="summary-head">Impression</h2></header>
    <ul class="prose">${impression.map((line) => html`<li>${line}</li>`)}</ul>
    ${
      keyValues.length > 0
        ? html`<h3>Key values</h3>
            <table class="key-values">
              <thead class="hidden-text">
                <tr><th scope="col">Quantity</th><th scope="col">Value</th><th scope="col">Centile or range</th></tr>
              </thead>
              <tbody>${keyValues.map((value) => keyValueView(value, measurements, show))}</tbody>
            </table>`
        : nothing
    }
    ${prior ? html`<p class="small soft">Compared with the study ${counted(prior.daysBefore, 'day')} before.</p>` : nothing}
  </section>`;
}

function keyValueView(
  value: KeyValue,
  measurements: ResultView['measurements'],
  show: (value: KeyValue) => void,
): TemplateResult {
  const row = measurements.find(({ model, cart, given: stated }) =>
    [model, cart, stated].some((one) => one?.id === value.id),
  );
  const { mark, text } = INTERPRETED[value.interpretation ?? 'N'];
  const reference = row?.model?.reference ?? row?.cart?.reference ?? null;
  const where = value.centile
    ? `centile ${value.centile}`
    : rangeText(reference, row?.decimals ?? 0);
  const seen = [row?.model, ...(row?.more ?? [])].find((one) => one?.file != null);
  const label = value.fetus ? `${value.label}, fetus ${value.fetus}` : value.label;
  return html`<tr>
    <th scope="row" title=${value.title}>
      ${
        seen
          ? html`<button type="button" class="link" @click=${() => show({ ...value, id: seen.id, file: seen.file, frame: seen.frame })}>${label}</button>`
          : label
      }
    </th>
    <td class="number">
      ${mark ? html`<span aria-hidden="true">${mark}</span><span class="hidden-text">${text}: </span>` : nothing}
      <strong>${value.text}</strong> <span class="unit">${value.unitText}</span>
      ${value.toConfirm ? html`<span class="second">to confirm</span>` : nothing}
    </td>
    <td class="small soft">${where}${row?.prior ? html`<span class="second">before: ${row.prior.text}</span>` : nothing}</td>
  </tr>`;
}

/** Renders the rest of the report: findings and limitations as in the PDF, and the models. */
export function reportView(
  { report, models, draft }: ResultView,
  withdrawn: boolean,
): TemplateResult {
  return html`<section class="panel report" id="report" aria-labelledby="report-head">
    <header>
      <h2 id="report-head">${report?.title ?? 'Report'}</h2>
      <span class="push">${withdrawn ? draftMark('withdrawn') : draft ? chip('quiet', 'Draft') : chip('good', 'Signed')}</span>
    </header>
    ${part('Findings', report?.findings ?? [])} ${part('Limitations', report?.limitations ?? [])}
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
  /** Id of the request being shown; `choose` selects another. */
  chosen: string | null;
  /** Review state of the result being shown, or that it was withdrawn; null until it is known. */
  review: ShownReview | null;
  choose(request: string): void;
}

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
    study ? counted(study.objects.length, 'image object') : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Renders the choice between a study's drafts, if there are several. */
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

/** Renders a link to the study in the hospital's viewer, if one is configured. */
export function viewerLink({ study }: StudyPage): TemplateResult | typeof nothing {
  if (!study?.viewer) return nothing;
  const { label, url } = study.viewer;
  return html`<a class="button" href=${url} target="_blank" rel="noreferrer">${label}</a>`;
}

/** Renders patient, study, state and actions, which stay visible while the page is scrolled. */
export function headView(page: StudyPage, head: Head): TemplateResult {
  const { row } = page;
  const hasResult = head.result !== null || row.glance !== null;
  return html`<header class="study-head">
    <div class="row">
      <h1 tabindex="-1">${given(subjectText(row.subject))}</h1>
      <span class="kind">${endpointText(row)}</span>
      ${row.state === 'succeeded' && hasResult ? nothing : stateChip(row)}
      ${hasResult ? draftMark(head.review) : nothing}
      ${row.test ? chip('quiet', 'Test, not from images') : nothing}
      ${revisions(page, head)}
      <div class="row push">${head.actions}</div>
    </div>
    <p class="small soft">${given(aboutText(page, head.result))}</p>
  </header>`;
}

/** Renders the critical flags, and who has seen them. */
export function flagsView({
  critical,
  acknowledged,
}: WorklistRow): TemplateResult | typeof nothing {
  if (critical.length === 0) return nothing;
  return html`<section class=${acknowledged ? 'flags seen' : 'flags'} aria-label="Critical flags">
    <ul>
      ${critical.map(
        ({ text, at, seenBy }) => html`<li>${chip('critical', 'Critical')} ${text}
        <span class="small soft">${momentText(at)}${seenBy && !acknowledged ? `, seen by ${seenBy}` : nothing}</span></li>`,
      )}
    </ul>
    <p class="small">
      ${
        acknowledged
          ? html`Seen by ${given(acknowledged.person)}, ${momentText(acknowledged.at)}`
          : critical.some(({ seenBy }) => seenBy)
            ? 'Nobody has confirmed seeing all of these yet.'
            : 'Nobody has confirmed seeing this yet.'
      }
    </p>
  </section>`;
}

/** Renders what the study is waiting for, the progress of the run, or why there is no result. */
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

export function objectsView(study: NonNullable<StudyPage['study']>): TemplateResult {
  return html`<section class="panel" id="objects" aria-labelledby="objects-head">
    <details>
      <summary id="objects-head">${counted(study.objects.length, 'object')} from
        ${given(study.callingAeTitle)} to ${given(study.calledAeTitle)}</summary>
      <ul class="objects small">
        ${study.objects.map(
          ({ sopClass, frames, conflict, revision }, index) => html`<li>
            ${index + 1}. ${sopClass}, ${counted(frames, 'frame')}
            ${revision > 1 ? html`<span class="soft">arrived later (revision ${revision})</span>` : nothing}
            ${conflict ? chip('attention', 'Conflicts with another object') : nothing}
          </li>`,
        )}
      </ul>
    </details>
  </section>`;
}

/** Renders the patient's other studies. */
export function earlierView({ earlier }: StudyPage): TemplateResult | typeof nothing {
  if (earlier.length === 0) return nothing;
  return html`<section class="panel" id="earlier" aria-labelledby="earlier-head">
    <header><h2 id="earlier-head">Other studies of this patient</h2></header>
    <ul class="artifacts">
      ${earlier.map(
        (study) => html`<li>
          <a href=${addressOf('study', { id: study.key })}>${endpointText(study)}, ${momentText(study.arrivedAt)}</a>
          ${stateChip(study)}
        </li>`,
      )}
    </ul>
  </section>`;
}

const UNITS = ['bytes', 'kB', 'MB', 'GB'] as const;

/** Formats a size for display, in powers of a thousand. */
export function sizeText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const size = bytes / 1000 ** step;
  return `${step === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${UNITS[step]}`;
}

/**
 * Whether an artifact is an image. The list of images is collapsed, because there are many and the
 * page already shows them.
 */
const isPicture = ({ name }: Artifact): boolean => /^(key-frame|cine|overlay)-.*\d/.test(name);

/** Returns a readable name for a file. */
export function artifactText(name: string): string {
  const [, stem = name, signed] = /^(.+?)(?:-signed-(\d+))?\.[a-z0-9]+$/.exec(name) ?? [];
  const [, kind = stem, number] = /^(.+)-(\d+)$/.exec(stem) ?? [];
  const text = number ? `${objectText(kind)} ${number}` : objectText(stem);
  return withRevision(text, Number(signed ?? 0));
}

function listView(requestId: string, artifacts: readonly Artifact[]): TemplateResult {
  return html`<ul class="artifacts">
    ${artifacts.map(
      ({ name, bytes }) => html`<li>
        <a href=${`${artifactUrl(requestId, name)}?download=1`} download=${name} title=${name}>${artifactText(name)}</a>
        <span class="small soft">${sizeText(bytes)}</span>
      </li>`,
    )}
  </ul>`;
}

export function artifactsView({
  id: requestId,
  artifacts,
  withdrawal,
}: Pick<RequestSummary, 'id' | 'artifacts' | 'withdrawal'>): TemplateResult {
  const pictures = artifacts.filter(isPicture);
  const documents = artifacts.filter((artifact) => !isPicture(artifact));
  return html`<section class="panel" id="artifacts" aria-labelledby="artifacts-head">
    <header>
      <h2 id="artifacts-head">Files</h2>
      <span class="small soft push">without patient identity</span>
    </header>
    ${withdrawal ? html`<p class="problem">These files are of a withdrawn result. They are kept as they were sent.</p>` : nothing}
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
        ({ name, text, met }) => html`<li>
          <span aria-hidden="true">${met ? '✓' : '–'}</span> ${name}:
          <span class="soft">${text}</span>
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

function reasonView({ reason }: Section): TemplateResult | typeof nothing {
  if (!reason) return nothing;
  const needs = reason.needs.length > 0 ? `Needs: ${reason.needs.join(', ')}.` : '';
  const text = [reason.detail, needs].filter(Boolean).join(' ');
  return text ? html`<p class="small soft">${text}</p>` : nothing;
}

/** Renders one section: a line with its status, and below it its findings and what is missing. */
function sectionView(section: Section, result: ResultView): TemplateResult {
  const { text, tone } = STATUS[section.status];
  const own = <One extends { section: string }>(all: readonly One[]) =>
    all.filter((one) => one.section === section.id);
  const findings = own(result.findings).filter((finding) => finding.text !== section.summary);
  const found = findings.some(({ severity }) => severity !== 'info');
  return html`<li id=${`section-${section.id}`}>
    <details ?open=${found}>
      <summary><strong>${section.title}</strong> ${chip(tone, text)}</summary>
      ${section.summary ? html`<p>${section.summary}</p>` : nothing} ${reasonView(section)}
      ${findings.length > 0 ? html`<ul class="findings">${findings.map(findingView)}</ul>` : nothing}
      ${own(result.scores).map(scoreView)} ${own(result.classifications).map(classificationView)}
      ${own(result.guidance).map(
        (one) => html`<p class="small">${one.text} <span class="soft">(${one.source})</span></p>`,
      )}
    </details>
  </li>`;
}

/** Sections that are not listed. The report is shown in another part of the page. */
const ELSEWHERE = new Set(['report']);

/** Renders every section of the endpoint: its findings, or why it was not assessed. */
export function sectionsView(result: ResultView): TemplateResult {
  const told = result.sections.filter(({ id }) => !ELSEWHERE.has(id));
  const asked = told.filter(({ status }) => status !== 'not_requested');
  const assessed = asked.filter(({ status }) => status === 'complete' || status === 'partial');
  return html`<section class="panel" id="sections" aria-labelledby="sections-head">
    <header>
      <h2 id="sections-head">Findings by section</h2>
      <span class="small soft push">${assessed.length} of ${asked.length} assessed</span>
    </header>
    <ul class="sections">${told.map((section) => sectionView(section, result))}</ul>
  </section>`;
}

/** A part of a page; only one part is shown at a time. */
export interface Tab {
  /** Unique on the page. If the hash of the address is this id, the tab is open. */
  id: string;
  text: string;
  view(): unknown;
}

const openTab = (tabs: readonly Tab[], wanted: string): Tab | undefined =>
  tabs.find(({ id }) => id === wanted) ?? tabs[0];

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/**
 * Renders the names of the tabs and the content of the open one. The arrow keys move between the
 * names (ARIA, tabs).
 */
export function tabsView(
  tabs: readonly Tab[],
  wanted: string,
  choose: (id: string) => void,
): TemplateResult {
  const open = openTab(tabs, wanted);
  const moveOn = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (!step || !open) return;
    event.preventDefault();
    const next = tabs.at((tabs.indexOf(open) + step) % tabs.length);
    if (!next) return;
    choose(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return html`<div class="tabs" role="tablist" aria-label="Parts of the study" @keydown=${moveOn}>
      ${tabs.map(
        ({ id, text }) => html`<button
          type="button"
          role="tab"
          id=${`tab-${id}`}
          aria-selected=${id === open?.id}
          aria-controls="tab-panel"
          tabindex=${id === open?.id ? 0 : -1}
          @click=${() => choose(id)}
        >
          ${text}
        </button>`,
      )}
    </div>
    <div id="tab-panel" role="tabpanel" aria-labelledby=${`tab-${open?.id}`}>${open?.view()}</div>`;
}
