import type { TimelineEntry } from '../contract.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { dateText, durationText, secondText } from './times.ts';
import { given, type Tone } from './words.ts';

const TONES = {
  received: 'quiet',
  completed: 'quiet',
  routed: 'quiet',
  held: 'attention',
  refused: 'attention',
  submitted: 'quiet',
  status: 'quiet',
  stage: 'quiet',
  critical: 'critical',
  result: 'good',
  delivery: 'active',
  delivered: 'good',
  committed: 'good',
  failed: 'critical',
  looked: 'quiet',
  changed: 'active',
} as const satisfies Record<TimelineEntry['kind'], Tone>;

/** Pure: seconds from the first entry to the last; null of fewer than two. */
export function spanOf(entries: readonly TimelineEntry[]): number | null {
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || !last || first === last) return null;
  return (Date.parse(last.at) - Date.parse(first.at)) / 1000;
}

function entryView(entry: TimelineEntry, former: TimelineEntry | undefined): TemplateResult {
  const { at, kind, title, detail, actor } = entry;
  const newDay = former === undefined || dateText(former.at) !== dateText(at);
  return html`<li class=${`${TONES[kind]} ${kind}`}>
    ${newDay ? html`<p class="day">${dateText(at)}</p>` : nothing}
    <time datetime=${at}>${secondText(at)}</time>
    <div>
      <p>${given(title)}</p>
      ${detail ? html`<p class="small soft">${given(detail)}</p>` : nothing}
      ${actor ? html`<p class="small soft">by ${given(actor)}</p>` : nothing}
    </div>
  </li>`;
}

/** The way of a study from the first association to the acknowledgement of the EHR. */
export function timelineView(entries: readonly TimelineEntry[]): TemplateResult {
  const span = spanOf(entries);
  return html`<section class="panel" id="timeline" aria-labelledby="timeline-head">
    <header>
      <h2 id="timeline-head">Timeline</h2>
      ${span === null ? nothing : html`<span class="small soft push">${durationText(span)} in all</span>`}
    </header>
    <ol class="timeline">
      ${entries.map((entry, index) => entryView(entry, entries[index - 1]))}
    </ol>
  </section>`;
}
