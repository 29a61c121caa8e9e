import type { ViewNamed } from '../../contract/view-words.ts';
import { viewWords } from '../../contract/view-words.ts';
import type { MeasuringRoute, Plane, PlaneEstimate } from './plane.ts';
import type { SweepDirection } from './sweeps.ts';

/** Returns whether the words of a view name a sweep, and its direction. */
export function namedSweep(clip: ViewNamed): { sweep: boolean; direction: SweepDirection | null } {
  const text = viewWords(clip);
  const low = '(caudal|caudad|inferior|pubis|suprapubic|symphysis|cervix)';
  const high = '(cranial|cephalad|superior|fundus|xiphoid)';
  const upwards = new RegExp(`\\b${low} to ${high}\\b|\\bcaud(o|al) ?cranial\\b`).test(text);
  const downwards = new RegExp(`\\b${high} to ${low}\\b|\\bcrani(o|al) ?caudal\\b`).test(text);
  const direction = upwards === downwards ? null : upwards ? 'to-cranial' : 'to-caudal';
  return { sweep: /\bsweep\b/.test(text) || direction !== null, direction };
}

/**
 * Plane through the uterus, and whether the image is transvaginal; null if no word indicates it.
 */
export interface NamedView {
  plane: 'sagittal' | 'transverse' | null;
  route: MeasuringRoute;
}

/** Reads plane and route from the words of a view. */
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
 * Words that operators and presets use for the views that the header may name. The classifier
 * learned these views from simulated images and confuses fluid with placenta. A plane that it
 * learned from real images is never named by a header.
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
 * Returns the view that the header of an image names; null if it names none of these views, or
 * several.
 */
export function headerPlane(clip: ViewNamed): Plane | null {
  const words = viewWords(clip);
  const named = PLANE_WORDS.flatMap(([pattern, plane]) => (pattern.test(words) ? [plane] : []));
  return named.length === 1 ? (named[0] ?? null) : null;
}

/**
 * Returns the estimate of an image whose header names a view: that view, with the confidence of the
 * classifier. The structures to be measured must still be found on the image.
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
