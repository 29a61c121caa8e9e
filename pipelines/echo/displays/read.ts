import type { Clip, Frame, Study, SweepKind, SweepRegion } from '../../contract/study.ts';
import {
  drawnTrace,
  fastestNear,
  type SpectralDisplay,
  type SpectralTrace,
  traceDisplay,
} from '../../measure/doppler/envelope.ts';
import { isRegular, meanOfSimilar, median, standardError } from '../../measure/statistics.ts';
import type { Caliper } from '../../result/envelope.ts';
import { flowTrace } from '../../result/measured.ts';
import type { DisplayDoubt } from '../../result/render/echo/shared.ts';
import type { DisplayRefusal } from '../../result/render/echo/views.ts';
import { isUnderStress } from '../locate/header-view.ts';
import { type FlowForm, flowByForm } from './flow-form.ts';
import { type Flow, headerFlow, saysTissue, TISSUE } from './flows.ts';
import {
  type FlowQuantity,
  type FlowReading,
  readAnnulus,
  readFlow,
  readUnnamed,
  type TracePoint,
} from './read-flow.ts';
import { readMModeSweep } from './read-m-mode.ts';
import {
  BEATS_DIFFER,
  type DisplayContent,
  type DisplayReading,
  type TracedQuantity,
} from './reading.ts';

/** If flow fills a smaller share of the columns, the display is treated as showing no flow. */
const FILLED = 0.08;
/** Share of the scale above which a peak may be aliased or, in CW, clipped (echo 17). */
const NYQUIST = 0.95;
/**
 * Minimum ratio between a peak read at the edge of the densest signal and the same peak read at
 * half level. Below it, the signal has no clear edge, so the value depends on where a reader would
 * draw it.
 */
const READINGS_AGREE = 0.8;
/** Seconds before and after a peak within which it is read a second time. */
const SECOND_READING = 0.03;

const SPECTRAL: ReadonlySet<SweepKind> = new Set(['pw', 'cw', 'doppler']);

const clamp = (value: number, last: number) => Math.max(0, Math.min(last, value));

function caliperOf(points: readonly TracePoint[], { spectrum }: SpectralDisplay): Caliper {
  const { left, top, columns, rows, zeroRow, velocityPerRow } = spectrum;
  return {
    type: points.length === 2 ? 'line' : 'polyline',
    points: points.map(({ column, velocity }): [number, number] => [
      left + clamp(column, columns - 1),
      top + clamp(zeroRow - velocity / velocityPerRow, rows - 1),
    ]),
  };
}

/**
 * Returns how well two independent readings of the edge agree at a peak, as a ratio (1 if they are
 * equal). Empty if the beat has no peak to compare.
 */
function agreementAt({ peak }: FlowQuantity['beats'][number], seconds: number): number[] {
  if (!peak) return [];
  const { trace, column } = peak;
  const reach = SECOND_READING / seconds;
  const usual = fastestNear(trace.curve, column, reach);
  return usual > 0 ? [(fastestNear(trace.dense, column, reach) - trace.skirt) / usual] : [];
}

/**
 * Returns true if the flow reaches the end of the scale at a peak, or comes so close that its true
 * peak may be beyond it. The curve alone does not show this, because the skirt is subtracted from
 * it.
 */
const reachesEnd = ({ curve, atEnd, limit }: SpectralTrace, column: number): boolean =>
  atEnd[column] === true || (curve[column] ?? 0) > NYQUIST * limit;

function contradiction({ beats }: FlowQuantity, seconds: number): DisplayDoubt | null {
  if (beats.some(({ peak }) => peak && reachesEnd(peak.trace, peak.column))) return 'at-end';
  if (standardError(beats.map(({ value }) => value)) > BEATS_DIFFER) return 'beats-differ';
  const agreement = beats.flatMap((beat) => agreementAt(beat, seconds));
  return agreement.length > 0 && median(agreement) < READINGS_AGREE ? 'readings-differ' : null;
}

function averaged(
  quantity: FlowQuantity,
  regular: boolean,
  display: SpectralDisplay,
): TracedQuantity[] {
  const { key, beats, remark = null } = quantity;
  if (beats.length === 0) return [];
  const doubt = quantity.doubt ?? contradiction(quantity, display.spectrum.secondsPerColumn);
  const values = beats.map(({ value }) => value);
  const { mean, used } = meanOfSimilar(values, regular);
  const calipers = used.flatMap((i) => {
    const points = beats[i]?.points ?? [];
    return points.length >= 2 ? [caliperOf(points, display)] : [];
  });
  return [{ key, value: mean, beats: values, used, calipers, remark, doubt }];
}

interface FlowNaming {
  flow: DisplayReading['flow'];
  namedBy: DisplayReading['namedBy'];
  nameConfidence: number;
  because: DisplayReading['because'];
}

function nameFlow(clip: Clip, sweep: SweepRegion, display: SpectralDisplay): FlowNaming {
  const flow = headerFlow(clip, sweep.kind);
  // The name of a wall is one sign of tissue Doppler. A second sign, either the scale or the words,
  // is required before a tissue Doppler flow is accepted (echo 2.6).
  if (flow && (!TISSUE.has(flow) || display.tissueScale || saysTissue(clip))) {
    return { flow, namedBy: 'header', nameConfidence: 1, because: null };
  }
  const form: FlowForm = flowByForm(display, sweep.kind, clip);
  return {
    flow: form.flow,
    namedBy: form.flow ? 'form' : null,
    nameConfidence: form.confidence,
    because: form.because,
  };
}

function readAs(
  { flow }: FlowNaming,
  display: SpectralDisplay,
  kind: SweepKind,
  heartRate: number | null,
): FlowReading {
  if (flow === null) return readUnnamed(display);
  if (flow === 'annulus') return readAnnulus('unnamed', display);
  return readFlow(flow as Flow, display, kind === 'cw', heartRate);
}

/**
 * Returns why a trace cannot be measured; null if it can be. Only the measured peaks are checked.
 * Other signals that reach the end of the scale are ignored, such as a click or the outflow next to
 * an inflow.
 */
function refusalOf(
  { trace, peaks }: FlowReading,
  other: SpectralTrace,
  kind: SweepKind,
): DisplayRefusal | null {
  if (trace.filled < FILLED || trace.waves.length === 0) return 'no-flow';
  if (peaks.length === 0) return 'no-beats';
  if (!peaks.some((peak) => reachesEnd(trace, peak))) return null;
  return kind !== 'cw' || other.wrapped ? 'aliased' : 'cut-off';
}

function readDopplerSweep(
  image: Awaited<ReturnType<Frame['gray']>>,
  clip: Clip,
  frame: number,
  sweep: SweepRegion,
): DisplayContent {
  const display = traceDisplay(image, sweep);
  const none = {
    side: null,
    peak: null,
    beats: 0,
    regular: null,
    confidence: 0,
    trace: null,
    quantities: [],
  };
  if (!display) {
    const unnamed: FlowNaming = { flow: null, namedBy: null, nameConfidence: 0, because: null };
    return { ...unnamed, ...none, refusal: 'no-scale' };
  }
  const naming = nameFlow(clip, sweep, display);
  const reading = readAs(naming, display, sweep.kind, clip.heartRate);
  const { trace, peaks, side } = reading;
  const opposite = side === 'above' ? display.below : display.above;
  const refusal = refusalOf(reading, opposite, sweep.kind);
  if (refusal) return { ...naming, ...none, refusal };
  const heights = peaks.map((peak) => trace.curve[peak] ?? 0);
  const regular = isRegular(peaks);
  const { mean } = meanOfSimilar(heights, regular !== false);
  return {
    ...naming,
    side,
    peak: mean,
    beats: peaks.length,
    regular,
    confidence: trace.clear,
    refusal: null,
    trace: flowTrace(frame, drawnTrace(trace.curve, side, display.spectrum, peaks)),
    quantities: reading.quantities.flatMap((one) => averaged(one, regular !== false, display)),
  };
}

/**
 * Marks the values of a display that was recorded under stress, so that they are shown but not used
 * as values at rest. Only a provoked gradient is meant to be recorded in this way.
 */
function asUnderStress(content: DisplayContent): DisplayContent {
  const quantities = content.quantities.map(
    (one): TracedQuantity =>
      one.key === 'lvot-gradient-provoked' ? one : { ...one, doubt: 'under-stress' },
  );
  return { ...content, quantities };
}

/**
 * Reads every spectral and M-mode display of a clip, on the clip's last frame, where the sweep is
 * complete.
 */
async function readClip(clip: Clip): Promise<DisplayReading[]> {
  const frame = clip.frames.at(-1);
  const spectra = clip.sweeps.filter(({ kind }) => SPECTRAL.has(kind));
  const mModes = clip.sweeps.filter(({ kind }) => kind === 'm-mode');
  if (!frame || spectra.length + mModes.length === 0) return [];
  const image = await frame.gray();
  const placed = (sweep: SweepRegion, content: DisplayContent): DisplayReading => ({
    file: clip.file,
    sopInstanceUid: clip.sopInstanceUid,
    frame: frame.index,
    kind: sweep.kind,
    ...(isUnderStress(clip) ? asUnderStress(content) : content),
  });
  return [
    ...spectra.map((sweep) => placed(sweep, readDopplerSweep(image, clip, frame.index, sweep))),
    ...mModes.map((sweep) => placed(sweep, readMModeSweep(image, clip, sweep))),
  ];
}

export async function readDisplays(study: Study, signal: AbortSignal): Promise<DisplayReading[]> {
  const readings: DisplayReading[] = [];
  for (const clip of study.clips) {
    signal.throwIfAborted();
    readings.push(...(await readClip(clip)));
  }
  return readings;
}
