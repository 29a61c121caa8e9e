import type { ViewNamed } from '../../contract/view-words.ts';
import { viewWords } from '../../contract/view-words.ts';
import type { MeasuringRoute, Plane, PlaneEstimate } from './plane.ts';
import type { SweepDirection } from './sweeps.ts';

/** Whether the words of a view name a sweep, and its direction. */
export function namedSweep(clip: ViewNamed): { sweep: boolean; direction: SweepDirection | null } {
  const text = viewWords(clip);
  const low = '(caudal|caudad|inferior|pubis|suprapubic|symphysis|cervix)';
  const high = '(cranial|cephalad|superior|fundus|xiphoid)';
  const upwards = new RegExp(`\\b${low} to ${high}\\b|\\bcaud(o|al) ?cranial\\b`).test(text);
  const downwards = new RegExp(`\\b${high} to ${low}\\b|\\bcrani(o|al) ?caudal\\b`).test(text);
  const direction = upwards === downwards ? null : upwards ? 'to-cranial' : 'to-caudal';
  return { sweep: /\bsweep\b/.test(text) || direction !== null, direction };
}

/** The plane through the uterus, and the way the probe was applied; null where no word says it. */
export interface NamedView {
  plane: 'sagittal' | 'transverse' | null;
  route: MeasuringRoute;
}

/** What the words of a view say of its plane and its route. */
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
 * Words by which operators and presets name the views that the header decides. The classifier learnt these from
 * simulated images and takes fluid for placenta and the reverse; planes that it learnt from real images are never
 * named by a header.
 */
const PLANE_WORDS: readonly (readonly [RegExp, Plane])[] = [
  [
    /\b(afi|amniotic fluid|(deepest|max(imum|imal)?) (vertical )?pocket|[dm]vp|sdp|[rl][ul]q)\b/,
    'amniotic-fluid',
  ],
  [/\bplacenta(l)?\b/, 'placenta'],
  [/\b(cervix|cervical length)\b/, 'cervix'],
];

/** The view that the header of an image names; null where it names none of them, or several. */
export function headerPlane(clip: ViewNamed): Plane | null {
  const words = viewWords(clip);
  const named = PLANE_WORDS.flatMap(([pattern, plane]) => (pattern.test(words) ? [plane] : []));
  return named.length === 1 ? (named[0] ?? null) : null;
}

/**
 * The estimate of an image whose header names a view: it is that view, at the confidence of the classifier. What is
 * measured on it is still looked for on the image.
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
