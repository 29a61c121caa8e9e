import type { TimelineEntry } from '../contract.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { dateText, durationText, given, secondText, type Tone } from './words.ts';

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

/** Returns the seconds from the first entry to the last; null if there are fewer than two. */
function spanOf(entries: readonly TimelineEntry[]): number | null {
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || !last || first === last) return null;
  return (Date.parse(last.at) - Date.parse(first.at)) / 1000;
}

/** Minimum number of consecutive stages that are folded. */
const FEW = 4;

/** Returns the entries with consecutive stages folded. */
export function foldStages(entries: readonly TimelineEntry[]): (TimelineEntry | TimelineEntry[])[] {
  const folded: (TimelineEntry | TimelineEntry[])[] = [];
  for (const entry of entries) {
    const last = folded.at(-1);
    if (entry.kind !== 'stage') folded.push(entry);
    else if (Array.isArray(last)) last.push(entry);
    else folded.push([entry]);
  }
  return folded.flatMap((part) => (Array.isArray(part) && part.length < FEW ? part : [part]));
}

function entryView(entry: TimelineEntry): TemplateResult {
  const { at, kind, title, detail, actor } = entry;
  return html`<li class=${`${TONES[kind]} ${kind}`}>
    <time datetime=${at}>${secondText(at)}</time>
    <div>
      <p>${given(title)}</p>
      ${detail ? html`<p class="small soft">${given(detail)}</p>` : nothing}
      ${actor ? html`<p class="small soft">by ${given(actor)}</p>` : nothing}
    </div>
  </li>`;
}

/**
 * Renders folded stages. They are unfolded only while they are the latest entries, because there
 * are many.
 */
function stagesView(
  stages: readonly TimelineEntry[],
  open: boolean,
): TemplateResult | typeof nothing {
  const [first] = stages;
  const span = spanOf(stages);
  if (!first) return nothing;
  return html`<li class="quiet stage">
    <time datetime=${first.at}>${secondText(first.at)}</time>
    <div>
      <details ?open=${open}>
        <summary>
          ${stages.length} stages${span === null ? '' : ` in ${durationText(span)}`}
        </summary>
        <ol>
          ${stages.map(({ at, title }) => html`<li><time datetime=${at}>${secondText(at)}</time> ${given(title)}</li>`)}
        </ol>
      </details>
    </div>
  </li>`;
}

/** Groups entries by day, because a study may wait overnight. */
function byDay(entries: readonly TimelineEntry[]): Map<string, TimelineEntry[]> {
  return Map.groupBy(entries, ({ at }) => dateText(at));
}

/**
 * Renders a study's timeline, from the first association to the EHR's acknowledgement. The total
 * time does not include later views of the study.
 */
export function timelineView(entries: readonly TimelineEntry[]): TemplateResult {
  const span = spanOf(entries.filter(({ kind }) => kind !== 'looked'));
  const last = entries.at(-1);
  const view = (part: TimelineEntry | TimelineEntry[]) =>
    Array.isArray(part) ? stagesView(part, part.at(-1) === last) : entryView(part);
  return html`<section class="panel" id="timeline" aria-labelledby="timeline-head">
    <header>
      <h2 id="timeline-head">Timeline</h2>
      ${span === null ? nothing : html`<span class="small soft push">${durationText(span)} in total</span>`}
    </header>
    ${[...byDay(entries)].map(
      ([day, ofDay]) => html`<h3 class="day">${day}</h3>
        <ol class="timeline">${foldStages(ofDay).map(view)}</ol>`,
    )}
  </section>`;
}
