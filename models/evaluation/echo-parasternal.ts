import { segmentParasternal } from '../../pipelines/echo/locate/parasternal.ts';
import { type LongAxisLine, longAxisLines } from '../../pipelines/echo/locate/parasternal-lines.ts';
import { sectorOf } from '../../pipelines/echo/locate/sector.ts';
import type { ModelSession } from '../../pipelines/inference/session.ts';
import { agreement, halfWidth95, type Measured } from './agreement.ts';
import type { LongAxisCase } from './echo-phantoms.ts';

const LINES = ['septum', 'cavity', 'posterior-wall', 'sinus'] as const satisfies LongAxisLine[];

/** Length of each line of the parasternal long axis against that of the phantom, mm. */
export async function measureLongAxes(
  session: ModelSession,
  cases: readonly LongAxisCase[],
): Promise<Record<string, Measured[]>> {
  const measured: Record<string, Measured[]> = {};
  for (const [n, { image, mmPerPixel, mm }] of cases.entries()) {
    const [masks] = await segmentParasternal(session, [image], sectorOf([image]));
    if (!masks) continue;
    const lines = longAxisLines(masks);
    for (const name of LINES) {
      const line = lines[name];
      const length = line && Math.hypot(line[1].x - line[0].x, line[1].y - line[0].y);
      const one = {
        image: String(n),
        referenceMm: mm[name],
        measuredMm: length === undefined ? null : length * mmPerPixel,
        confidence: masks.confidence.lv,
        accepted: masks.accepted,
      };
      measured[name] = [...(measured[name] ?? []), one];
    }
  }
  return measured;
}

/** Agreement by line, and the half widths of the 95 % intervals that the product states. */
export function longAxisAgreement(measured: Readonly<Record<string, Measured[]>>) {
  const of = <T>(value: (cases: readonly Measured[]) => T) =>
    Object.fromEntries(Object.entries(measured).map(([name, cases]) => [name, value(cases)]));
  const sets = Object.entries(of(agreement)).map(([name, set]) => [`phantom: ${name}`, set]);
  return { halfWidths95Mm: of(halfWidth95), sets: Object.fromEntries(sets) };
}
