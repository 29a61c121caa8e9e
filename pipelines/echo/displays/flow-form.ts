import type { Clip, SweepKind } from '../../contract/study.ts';
import { annularMotion, ejectionsOf } from '../../measure/doppler/cardiac-flow.ts';
import type { SpectralDisplay } from '../../measure/doppler/envelope.ts';
import { fillingsOf } from '../../measure/doppler/filling.ts';
import { isWithin, median } from '../../measure/statistics.ts';
import type { DisplayForm } from '../../result/render/echo/shared.ts';
import { headerView } from '../locate/header-view.ts';
import type { Flow } from './flows.ts';

/**
 * The flow suggested by the form of a display. It is used if the header does not identify the flow.
 */
export interface FlowForm {
  /** `annulus` is tissue Doppler of a wall. The form does not show which wall it is. */
  flow: Flow | 'annulus' | null;
  /** From 0 to 1. */
  confidence: number;
  because: DisplayForm;
}

const UNKNOWN: FlowForm = { flow: null, confidence: 0, because: 'fits-none' };

/**
 * Limits for recognising ventricular filling, which has two waves per beat towards the probe. It is
 * mitral or, rarely, tricuspid. Deceleration time in seconds, velocity in cm/s.
 */
const FILLING_FORM = { confidence: 0.8, deceleration: [0.08, 0.4], fastest: 250 } as const;
/**
 * Limits for recognising an ejection, which has one wave per beat away from the probe. Duration in
 * seconds, peak velocity in cm/s.
 */
export const EJECTION_FORM = { seconds: [0.2, 0.45], velocity: [40, 180] } as const;
/**
 * Outflow tract for each view in the header. The form is not enough, because LVOT and RVOT displays
 * look the same.
 */
const OUTFLOW_BY_VIEW: Readonly<Record<string, 'lvot' | 'rvot'>> = {
  A5C: 'lvot',
  A3C: 'lvot',
  PSAX: 'rvot',
  'PSAX-AV': 'rvot',
  'RV-OUTFLOW': 'rvot',
};
const OUTFLOW = { withView: 0.8, alone: 0.4 } as const;

function asAnnulus(display: SpectralDisplay): FlowForm | null {
  if (!display.tissueScale) return null;
  const { beats } = annularMotion(display);
  const early = beats.filter((beat) => beat.early !== null).length;
  if (early === 0) return null;
  return {
    flow: 'annulus',
    confidence: 0.5 + 0.4 * (early / beats.length),
    because: 'tissue-scale',
  };
}

function asFilling({ above, below, spectrum }: SpectralDisplay): FlowForm | null {
  const seconds = spectrum.secondsPerColumn;
  const { beats, certainty, period } = fillingsOf(above.curve, above.waves, seconds, {
    opposite: below.curve,
  });
  const pairs = beats.filter(({ atrial }) => atrial !== null);
  if (period === null || pairs.length < 2) return null;
  const fall = median(pairs.flatMap(({ decelerationTime }) => decelerationTime ?? []));
  const early = median(pairs.map((beat) => beat.early.height));
  const opposite = Math.max(0, ...below.waves.map(({ height }) => height));
  const fits =
    isWithin(fall, FILLING_FORM.deceleration) && early <= FILLING_FORM.fastest && opposite < early;
  if (!fits) return null;
  return {
    flow: 'mitral-inflow',
    confidence: FILLING_FORM.confidence * (0.5 + 0.5 * certainty),
    because: 'two-waves',
  };
}

function asEjection({ below, above, spectrum }: SpectralDisplay, clip: ViewNamed): FlowForm | null {
  const ejections = ejectionsOf(below.curve, below.waves, spectrum.secondsPerColumn);
  const whole = ejections.filter((one) => one.whole);
  if (whole.length < 2) return null;
  const peak = median(ejections.map((one) => one.peak));
  const lasts = median(whole.map(({ flowTime }) => flowTime));
  const forward = Math.max(0, ...above.waves.map(({ height }) => height));
  const fits =
    isWithin(lasts, EJECTION_FORM.seconds) &&
    isWithin(peak, EJECTION_FORM.velocity) &&
    forward < peak;
  if (!fits) return null;
  const view = headerView(clip);
  const flow = view ? OUTFLOW_BY_VIEW[view] : undefined;
  return {
    flow: flow ?? 'lvot',
    confidence: flow ? OUTFLOW.withView : OUTFLOW.alone,
    because: flow ? 'ejection-in-view' : 'ejection',
  };
}

type ViewNamed = Pick<Clip, 'viewCode' | 'viewName'>;

/**
 * Returns the flow suggested by the form of a display. CW jets are never identified in this way,
 * because stenosis, regurgitation and the jets of different valves look too similar.
 */
export function flowByForm(display: SpectralDisplay, kind: SweepKind, clip: ViewNamed): FlowForm {
  const annulus = kind === 'cw' ? null : asAnnulus(display);
  if (annulus) return annulus;
  if (kind !== 'pw') return UNKNOWN;
  return asFilling(display) ?? asEjection(display, clip) ?? UNKNOWN;
}
