import type { Random } from '../random.ts';
import type { ViewRequest } from '../view.ts';

/** One early pregnancy in millimetres; what is 0 is not there. */
export interface EarlySizes {
  /** Inner diameters of the sac: along the uterus, from front to back, from side to side. */
  sac: { lengthMm: number; heightMm: number; widthMm: number };
  /** Inner to inner. */
  yolkSacMm: number;
  crlMm: number;
  /** Beats per minute; 0: no cardiac activity. */
  heartRate: number;
}

/**
 * Mean sac diameter of an age: GA in days less 30 (Nyberg 1987). Crown-rump length: the curve of
 * Robinson and Fleming 1975 turned round. Kept apart from the gateway's charts on purpose.
 */
const meanSacMm = (days: number) => Math.max(3, days - 30);
const crlMmAt = (days: number) => (days < 39 ? 0 : ((days - 23.73) / 8.052) ** 2 / 1.037);

/** Sizes at an age, each of which `anatomy` may set: an empty sac, a silent heart, a large sac. */
export function drawEarlySizes({ gaDays, anatomy = {} }: ViewRequest, random: Random): EarlySizes {
  const mean = anatomy.msdMm ?? meanSacMm(gaDays) * random.range(0.85, 1.15);
  const shape = [random.range(0.85, 1.35), random.range(0.65, 0.95), random.range(0.85, 1.15)];
  const sum = shape.reduce((total, value) => total + value, 0);
  const [long = 1, high = 1, wide = 1] = shape.map((value) => (3 * mean * value) / sum);
  // An embryo lies inside its sac, whatever length is asked for.
  const crlMm = Math.min(anatomy.crlMm ?? crlMmAt(gaDays) * random.range(0.92, 1.08), 0.85 * long);
  const yolkSacMm =
    anatomy.yolkSacMm ??
    (gaDays < 36 && anatomy.crlMm === undefined ? 0 : Math.min(0.45 * high, random.range(2.5, 5)));
  const rate = Math.max(90, Math.min(175, 100 + 3.2 * (gaDays - 41) + random.normal(0, 6)));
  return {
    sac: { lengthMm: long, heightMm: high, widthMm: wide },
    yolkSacMm,
    crlMm,
    heartRate: crlMm === 0 ? 0 : (anatomy.heartRate ?? rate),
  };
}
