import { rounded } from '../../measure/rounding.ts';

/** m/s; a peak gradient of 36 and 64 mmHg (VS09 [B]; reference 11.7). */
const PEAK = { moderate: 3, severe: 4 } as const;

/**
 * By peak velocity, m/s. Null below 3: the table has mild stenosis there, and no lower end that would
 * tell it from a normal valve.
 */
export function pulmonaryStenosis(peak: number): 'moderate PS' | 'severe PS' | null {
  const shown = rounded(peak, 1);
  if (shown > PEAK.severe) return 'severe PS';
  return shown >= PEAK.moderate ? 'moderate PS' : null;
}
