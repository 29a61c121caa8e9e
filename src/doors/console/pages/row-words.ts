import type { RowState, Subject, WorklistRow } from '../contract.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { chip, counted, distanceText, given, type Tone } from './words.ts';

/** States of a row in words. */
export const STATES = {
  receiving: { text: 'Receiving', tone: 'active' },
  complete: { text: 'Complete', tone: 'active' },
  held: { text: 'Held', tone: 'attention' },
  unrouted: { text: 'No rule', tone: 'attention' },
  ignored: { text: 'Ignored', tone: 'quiet' },
  refused: { text: 'Refused', tone: 'attention' },
  routed: { text: 'Forwarded', tone: 'good' },
  queued: { text: 'Queued', tone: 'active' },
  preparing: { text: 'Preparing', tone: 'active' },
  running: { text: 'Running', tone: 'active' },
  succeeded: { text: 'Draft ready', tone: 'good' },
  failed: { text: 'Failed', tone: 'critical' },
  canceled: { text: 'Canceled', tone: 'quiet' },
  rejected: { text: 'Rejected', tone: 'attention' },
  expired: { text: 'Purged', tone: 'quiet' },
} as const satisfies Record<RowState, { text: string; tone: Tone }>;

export function stateChip(state: RowState): TemplateResult {
  return chip(STATES[state].tone, STATES[state].text);
}

/** Pure: the name of an endpoint, such as "Obstetric" for `us/obstetric/interpret`. */
export function endpointText(endpoint: string | null): string {
  const name = endpoint?.split('/')[1] ?? '';
  return name === '' ? 'Not routed yet' : name.charAt(0).toUpperCase() + name.slice(1);
}

/** The patient as the role may see it: name, initials, or a pseudonym. */
export function subjectText(subject: Subject | null): string {
  if (!subject) return 'No patient';
  if (subject.shown === 'identity') return subject.name || subject.initials || subject.pseudonym;
  return subject.shown === 'initials' ? subject.initials || subject.pseudonym : subject.pseudonym;
}

/** What distinguishes patients besides the name: identifier and birth date, or the pseudonym. */
export function subjectDetail(subject: Subject | null): string {
  if (!subject || subject.shown === 'hidden') return subject ? 'identity hidden' : '';
  if (subject.shown === 'initials') return subject.pseudonym;
  return [subject.patientId, daText(subject.birthDate)].filter(Boolean).join(' · ');
}

/** Pure: "1993-04-05" from a DICOM DA; other text stays as it is. */
export function daText(date: string): string {
  return /^\d{8}$/.test(date) ? `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}` : date;
}

export function hasUnseenFlag(row: WorklistRow): boolean {
  return row.critical.length > 0 && row.acknowledged === null;
}

/** What the row is doing or waiting for; the progress of a running request. */
export function waitingView(row: WorklistRow, now: Date): TemplateResult | typeof nothing {
  const running = row.stage !== null && ['queued', 'preparing', 'running'].includes(row.state);
  if (running && row.stage) {
    const { label, progress, etaSeconds } = row.stage;
    const left = etaSeconds === null ? '' : `, about ${etaSeconds} s left`;
    return html`<span class="second" title=${`${label}${left}`}>${label}${left}</span>
      <progress max="1" .value=${progress} aria-label=${`Progress: ${label}`}></progress>`;
  }
  if (row.waitsFor) {
    const until = row.waitsUntil ? `, ${distanceText(row.waitsUntil, now)}` : '';
    const text = `Waits for ${row.waitsFor}${until}`;
    return html`<span class="second" title=${text}>${text}</span>`;
  }
  return row.reason
    ? html`<span class="second" title=${row.reason}>${given(row.reason)}</span>`
    : nothing;
}

/** The deliveries of the results of a row: the worst state as a chip, the rest in words. */
export function deliveriesView({ deliveries }: WorklistRow): TemplateResult | typeof nothing {
  const counts = [
    { count: deliveries.dead, tone: 'critical', text: 'failed' },
    { count: deliveries.held, tone: 'attention', text: 'held' },
    { count: deliveries.waiting, tone: 'active', text: 'waiting' },
    { count: deliveries.delivered, tone: 'good', text: 'delivered' },
  ] as const;
  const [worst, ...others] = counts.filter(({ count }) => count > 0);
  if (!worst) return nothing;
  const rest = others.map(({ count, text }) => `${count} ${text}`).join(', ');
  return html`${chip(worst.tone, `${worst.count} ${worst.text}`)}
    ${rest ? html`<span class="second" title=${rest}>${rest}</span>` : nothing}`;
}

/** Number of values in the first of the two lines. */
const FIRST_LINE = 2;

/** The flags, if any; otherwise the values at a glance. */
export function glanceView(row: WorklistRow): TemplateResult | typeof nothing {
  if (row.critical.length > 0) {
    const texts = row.critical.map(({ text }) => text).join('; ');
    const seen = row.acknowledged ? `seen by ${row.acknowledged.person}` : 'critical, not seen yet';
    return html`<span class=${row.acknowledged ? 'first' : 'first flag'} title=${texts}>${texts}</span>
      <span class="second">${given(seen)}</span>`;
  }
  if (!row.glance) return nothing;
  const { values, assessed, sections } = row.glance;
  const share = `${assessed} of ${counted(sections, 'section')}`;
  const rest = [...values.slice(FIRST_LINE), share].join(' · ');
  return html`<span class="first">${values.slice(0, FIRST_LINE).join(' · ') || 'No value'}</span>
    <span class="second" title=${values.join(' · ')}>${rest}</span>`;
}
