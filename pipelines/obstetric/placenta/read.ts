import type { FramePlane } from '../shared/key-frames.ts';
import type { Reader } from '../shared/reader.ts';
import { readUterineFrames } from '../shared/uterine-frames.ts';
import {
  type PlacentaBody,
  type PlacentaEdge,
  placentaEdgeOfMaps,
  placentaOfMaps,
} from './locate.ts';

export interface PlacentaReadings {
  /** Transabdominal frames of the placenta; null where no permitted model finds it. */
  bodies: readonly BodyReading[] | null;
  /** Transvaginal frames of the lower uterus; null as above. */
  edges: readonly EdgeReading[] | null;
  /** Half widths of 95 % intervals, mm. */
  uncertainty: { toOs: number | null; thickness: number | null };
}

export interface BodyReading extends FramePlane {
  located: PlacentaBody | null;
}

export interface EdgeReading extends FramePlane {
  located: PlacentaEdge | null;
}

/** Placenta and its lower edge. */
export const placentaReader: Reader<PlacentaReadings> = {
  stage: 'placenta',
  label: 'Looking at the placenta',
  read: async (input) => {
    const { uterus } = input.locator.uncertainty;
    return {
      // Fluid and placenta are often in one picture, and its name is only one of the two.
      bodies: await readUterineFrames(input, ['placenta', 'amniotic-fluid'], ({ at, drawn }) => {
        const located = placentaOfMaps(drawn);
        return at.estimate.label === 'placenta' || located?.accepted ? { ...at, located } : null;
      }),
      edges: await readUterineFrames(input, ['cervix'], ({ at, drawn }) => ({
        ...at,
        located: placentaEdgeOfMaps(drawn),
      })),
      uncertainty: {
        toOs: uterus?.placentaToOs ?? null,
        thickness: uterus?.placentalThickness ?? null,
      },
    };
  },
};
