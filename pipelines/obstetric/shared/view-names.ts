import type { ViewNamed } from '../../contract/view-words.ts';
import { viewWords } from '../../contract/view-words.ts';
import type { MeasuringRoute, Plane, PlaneEstimate } from './plane.ts';
import type { SweepDirection } from './sweeps.ts';

/** Returns whether a view's label describes a sweep, and its direction. */
export function namedSweep(clip: ViewNamed): { sweep: boolean; direction: SweepDirection | null } {
  const text = viewWords(clip);
  const low = '(caudal|caudad|inferior|pubis|suprapubic|symphysis|cervix)';
  const high = '(cranial|cephalad|superior|fundus|xiphoid)';
  const upwards = new RegExp(`\\b${low} to ${high}\\b|\\bcaud(o|al) ?cranial\\b`).test(text);
  const downwards = new RegExp(`\\b${high} to ${low}\\b|\\bcrani(o|al) ?caudal\\b`).test(text);
  const direction = upwards === downwards ? null : upwards ? 'to-cranial' : 'to-caudal';
  return { sweep: /\bsweep\b/.test(text) || direction !== null, direction };
}

/** Plane through the uterus and route of the scan, each null if the label does not indicate it. */
interface NamedView {
  plane: 'sagittal' | 'transverse' | null;
  route: MeasuringRoute;
}

/** Reads plane and route from the label of a view. */
export function namedView(clip: ViewNamed): NamedView {
  const text = viewWords(clip);
  return {
    plane: /transverse|axial|coronal/.test(text)
      ? 'transverse'
      : /sagittal|longitudinal/.test(text)
        ? 'sagittal'
        : null,
    route: /trans ?vaginal|endo ?vaginal|\btv\b/.test(text)
      ? 'transvaginal'
      : /trans ?abdominal|\bta\b/.test(text)
        ? 'transabdominal'
        : null,
  };
}

/**
 * Patterns for the labels that operators and presets give to a view. Only these views may be taken
 * from a header, because the classifier was trained on simulated images of them and confuses fluid
 * with placenta. Planes that it learned from real images are never taken from a header.
 */
const PLANE_WORDS: readonly (readonly [RegExp, Plane])[] = [
  [
    /\b(afi|amniotic fluid|(deepest|max(imum|imal)?) (vertical )?pocket|[dm]vp|sdp|[rl][ul]q)\b/,
    'amniotic-fluid',
  ],
  [/\bplacenta(l)?\b/, 'placenta'],
  [/\b(cervix|cervical length)\b/, 'cervix'],
];

/**
 * Returns the view stated in an image header; null if the header states none of these views, or
 * several.
 */
export function headerPlane(clip: ViewNamed): Plane | null {
  const words = viewWords(clip);
  const named = PLANE_WORDS.flatMap(([pattern, plane]) => (pattern.test(words) ? [plane] : []));
  return named.length === 1 ? (named[0] ?? null) : null;
}

/**
 * Returns the estimate for an image whose header states a view: that view, with the classifier's
 * confidence in it. The structures to be measured must still be found on the image.
 */
export const withHeaderPlane = (estimate: PlaneEstimate, named: Plane | null): PlaneEstimate =>
  named === null || estimate.label === named
    ? estimate
    : {
        ...estimate,
        label: named,
        confidence: estimate.probabilities?.[named] ?? 0,
        belowGate: null,
      };
