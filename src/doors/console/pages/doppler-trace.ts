import type {
  FlowTrace,
  OverlayClip,
  SweepAxes,
} from '../../../../pipelines/artifacts/display/overlay-contract.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import type { PlotContent } from './plot-content.ts';

/**
 * Returns the sweep on which a trace was drawn; null if there is no such sweep or one of its axes
 * has no scale.
 */
function axesOf({ sweeps }: OverlayClip, { points }: FlowTrace): SweepAxes | null {
  const [x, y] = points[0] ?? [0, 0];
  const around = sweeps.find(
    ({ area }) =>
      x >= area.min_x - 1 && x <= area.max_x + 1 && y >= area.min_y - 1 && y <= area.max_y + 1,
  );
  return around?.seconds_per_pixel && around.value_per_pixel ? around : null;
}

/**
 * Returns a plot of a traced curve, with time in seconds and values in the unit of the value axis;
 * null if the display has no scale.
 */
export function traceContent(clip: OverlayClip, trace: FlowTrace): PlotContent | null {
  const axes = axesOf(clip, trace);
  if (!axes?.seconds_per_pixel || !axes.value_per_pixel) return null;
  const { area, unit, direction, seconds_per_pixel: perColumn, value_per_pixel: perRow } = axes;
  const rows = (y: number) =>
    direction === 'up' ? trace.baseline_row - y : y - trace.baseline_row;
  const time = (column: number) => (column - area.min_x) * perColumn;
  return {
    label: `Traced flow of ${clip.view ?? 'a spectral display'}, ${trace.beats.length} beats marked`,
    height: 200,
    xText: 'Time (s)',
    yText: `Velocity (${unit})`,
    fromZero: true,
    marks: trace.beats.map(time),
    series: [
      {
        name: 'trace',
        colour: '--accent',
        width: 1.5,
        points: trace.points.map(([x, y]) => [time(x), rows(y) * perRow]),
      },
    ],
  };
}

const contents = new WeakMap<FlowTrace, PlotContent | null>();

function contentOf(clip: OverlayClip, trace: FlowTrace): PlotContent | null {
  const known = contents.get(trace);
  if (known !== undefined) return known;
  const made = traceContent(clip, trace);
  contents.set(trace, made);
  return made;
}

/** Renders every traced spectral display, with the beats that were recognised. */
export function dopplerView(
  clips: readonly OverlayClip[],
  show: (file: string, frame: number) => void,
): TemplateResult | typeof nothing {
  const traced = clips.flatMap((clip) =>
    clip.traces.flatMap((trace) => {
      const content = contentOf(clip, trace);
      return content ? [{ clip, trace, content }] : [];
    }),
  );
  if (traced.length === 0) return nothing;
  return html`<section class="panel" id="doppler" aria-labelledby="doppler-head">
    <header><h2 id="doppler-head">Doppler traces</h2></header>
    <div class="plots">
      ${traced.map(
        ({ clip, trace, content }) => html`<figure>
          <sonogate-plot .content=${content}></sonogate-plot>
          <figcaption class="small">
            <button type="button" class="link" @click=${() => show(clip.file, trace.frame)}>
              ${clip.view ?? 'Spectral Doppler'}
            </button>
            <span class="soft">${trace.beats.length} beats marked</span>
          </figcaption>
        </figure>`,
      )}
    </div>
  </section>`;
}
