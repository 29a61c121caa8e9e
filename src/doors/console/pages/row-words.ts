import type { RowState, ShownReview, Specialty, Subject, WorklistRow } from '../contract.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { chip, counted, distanceText, given, type Tone } from './words.ts';

export const STATES = {
  receiving: { text: 'Receiving', tone: 'active' },
  complete: { text: 'Complete', tone: 'active' },
  held: { text: 'Held', tone: 'attention' },
  unrouted: { text: 'No rule applies', tone: 'attention' },
  ignored: { text: 'Ignored', tone: 'quiet' },
  refused: { text: 'Refused', tone: 'attention' },
  routed: { text: 'Forwarded', tone: 'good' },
  queued: { text: 'Queued', tone: 'active' },
  preparing: { text: 'Preparing', tone: 'active' },
  running: { text: 'Running', tone: 'active' },
  succeeded: { text: 'Draft ready', tone: 'good' },
  failed: { text: 'Failed', tone: 'critical' },
  canceled: { text: 'Cancelled', tone: 'quiet' },
  rejected: { text: 'Rejected', tone: 'attention' },
  expired: { text: 'Deleted after retention', tone: 'quiet' },
} as const satisfies Record<RowState, { text: string; tone: Tone }>;

const REVIEWED = {
  draft: STATES.succeeded,
  'in-review': { text: 'In review', tone: 'active' },
  signed: { text: 'Signed', tone: 'good' },
  amended: { text: 'Signed, amended', tone: 'good' },
  withdrawn: { text: 'Withdrawn', tone: 'critical' },
} as const satisfies Record<ShownReview, { text: string; tone: Tone }>;

type Stated = Pick<WorklistRow, 'state' | 'review'>;

/** Returns the label and tone of the row's state or, if it has a result, of its review. */
const stateOf = ({ state, review }: Stated) =>
  state === 'succeeded' && review ? REVIEWED[review] : STATES[state];

export const stateText = (row: Stated): string => stateOf(row).text;

export function stateChip(row: Stated): TemplateResult {
  const { tone, text } = stateOf(row);
  return chip(tone, text);
}

/** Describes who is reading, such as "Dr Second is reading"; '' if nobody is. */
export function readersText(readers: readonly string[]): string {
  const [first, second, ...more] = readers;
  if (first === undefined) return '';
  if (second === undefined) return `${first} is reading`;
  const others = more.length > 0 ? `${more.length + 1} others` : second;
  return `${first} and ${others} are reading`;
}

const SPECIALTIES = { obstetric: 'Obstetric', echo: 'Echo' } as const satisfies Record<
  Specialty,
  string
>;

type Interpreted = Pick<WorklistRow, 'endpoint' | 'specialty'>;

/**
 * Returns the name of what an endpoint interprets, such as "Obstetric"; its id if it interprets
 * nothing.
 */
export function endpointText({ endpoint, specialty }: Interpreted): string {
  return specialty === null ? (endpoint ?? 'Not routed yet') : SPECIALTIES[specialty];
}

/**
 * Returns what was examined, such as "Echo · Stress test": the interpretation and the study's
 * description. The interpretation is omitted if the description begins with it. Returns '' if
 * neither is known.
 */
export function examinationText(interpreted: Interpreted & { subject: Subject | null }): string {
  const { endpoint, subject } = interpreted;
  const description = subject?.shown === 'identity' ? subject.studyDescription : '';
  const name = endpoint === null ? '' : endpointText(interpreted);
  if (description.toLowerCase().startsWith(name.toLowerCase())) return description;
  return [name, description].filter(Boolean).join(' · ');
}

/** Describes the patient as the role may see it: name, initials, or a pseudonym. */
export function subjectText(subject: Subject | null): string {
  if (!subject) return 'Unknown patient';
  if (subject.shown === 'identity') return subject.name || subject.initials || subject.pseudonym;
  return subject.shown === 'initials' ? subject.initials || subject.pseudonym : subject.pseudonym;
}

/**
 * Returns what identifies the patient in addition to the name: patient ID and birth date, the
 * pseudonym, or a text saying that the identity is hidden.
 */
export function subjectDetail(subject: Subject | null): string {
  if (!subject || subject.shown === 'hidden') return subject ? 'identity hidden' : '';
  if (subject.shown === 'initials') return subject.pseudonym;
  return [subject.patientId, daText(subject.birthDate)].filter(Boolean).join(' · ');
}

/** Formats a DICOM DA as "1993-04-05"; other text is returned unchanged. */
export function daText(date: string): string {
  return /^\d{8}$/.test(date) ? `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}` : date;
}

export function hasUnseenFlag(row: WorklistRow): boolean {
  return row.critical.length > 0 && row.acknowledged === null;
}

/** Describes when a row's wait ends at the latest; '' if there is no limit or it has passed. */
function untilText(until: string | null, now: Date): string {
  if (until === null || Date.parse(until) - now.getTime() < 1000) return '';
  return `, ${distanceText(until, now)} at the latest`;
}

/**
 * Renders the progress of a running request; otherwise what the row is waiting for, or the reason
 * for its state.
 */
export function waitingView(row: WorklistRow, now: Date): TemplateResult | typeof nothing {
  const running = row.stage !== null && ['queued', 'preparing', 'running'].includes(row.state);
  if (running && row.stage) {
    const { label, progress, etaSeconds } = row.stage;
    const left = etaSeconds === null ? '' : `, about ${etaSeconds} s left`;
    return html`<span class="second" title=${`${label}${left}`}>${label}${left}</span>
      <progress max="1" .value=${progress} aria-label=${`Progress: ${label}`}></progress>`;
  }
  if (row.waitsFor) {
    const text = `Waits for ${row.waitsFor}${untilText(row.waitsUntil, now)}`;
    return html`<span class="second" title=${text}>${text}</span>`;
  }
  return row.reason
    ? html`<span class="second" title=${row.reason}>${given(row.reason)}</span>`
    : nothing;
}

/**
 * Renders the number of the row's deliveries in each state: the worst state as a chip, the others
 * in its tooltip.
 */
export function deliveriesView({
  deliveries,
}: Pick<WorklistRow, 'deliveries'>): TemplateResult | typeof nothing {
  const counts = [
    { count: deliveries.dead, tone: 'critical', text: 'not delivered' },
    { count: deliveries.held, tone: 'attention', text: 'held' },
    { count: deliveries.waiting, tone: 'active', text: 'to deliver' },
    { count: deliveries.delivered, tone: 'good', text: 'delivered' },
  ] as const;
  const [worst, ...others] = counts.filter(({ count }) => count > 0);
  if (!worst) return nothing;
  const rest = others.map(({ count, text }) => `${count} ${text}`).join(', ');
  return html`<span title=${rest}>${chip(worst.tone, `${worst.count} ${worst.text}`)}</span>`;
}

/** Renders the critical flags; if there are none, the most important values. */
export function glanceView(row: WorklistRow): TemplateResult | typeof nothing {
  if (row.critical.length > 0) {
    const texts = row.critical.map(({ text }) => text).join('; ');
    const seen = row.acknowledged ? `seen by ${row.acknowledged.person}` : 'critical, not yet seen';
    return html`<span class=${row.acknowledged ? 'first' : 'first flag'} title=${texts}>${texts}</span>
      <span class="second">${given(seen)}</span>`;
  }
  if (!row.glance) return nothing;
  const { age, values, abnormal, toConfirm, assessed, sections } = row.glance;
  const shown = [age ? `${age} weeks` : '', ...values].filter(Boolean);
  const [worst, ...others] = abnormal;
  const more = others.length > 0 ? ` (+${others.length})` : '';
  const share = [
    `${assessed} of ${counted(sections, 'section')} assessed`,
    ...(toConfirm > 0 ? [`${counted(toConfirm, 'value')} to confirm`] : []),
  ].join(' · ');
  return html`<span class="first glance" title=${shown.join(' · ')}>
      ${shown.length > 0 ? shown.map((text) => html`<span>${text}</span> `) : 'No value'}
    </span>
    ${worst ? html`<span class="first abnormal" title=${abnormal.join('; ')}>◆ ${worst}${more}</span>` : nothing}
    <span class="second" title=${share}>${share}</span>`;
}

/**
 * Returns the size class of an identity. A long one has a smaller font, so that it fits without
 * being cut off.
 */
export function identitySize(text: string): '' | 'long' | 'longer' {
  return text.length > 130 ? 'longer' : text.length > 55 ? 'long' : '';
}
