import type { ViewNamed } from '../../contract/view-words.ts';
import { viewWords } from '../../contract/view-words.ts';
import type { MeasuringRoute } from './plane.ts';

/** Which way a sweep runs along the mother; null where the cart's words do not say it. */
export type SweepDirection = 'to-cranial' | 'to-caudal';

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
