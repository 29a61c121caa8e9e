import type { ResultView, Section, SectionStatus } from '../contract.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { chip, type Tone } from './words.ts';

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

/** Why a section says less than it could, and which views or data it would need. */
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

/** The report has a part of its own on the page. */
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
