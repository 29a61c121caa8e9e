import type { FramePlane } from '../frame-plane.ts';
import {
  type PlacentaBody,
  type PlacentaEdge,
  placentaEdgeOfMaps,
  placentaOfMaps,
} from '../locate/placenta-landmarks.ts';
import type { Reader } from '../reader.ts';
import { readUterineFrames } from './uterine-frames.ts';

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
      bodies: await readUterineFrames(input, ['placenta'], ({ at, drawn }) => ({
        ...at,
        located: placentaOfMaps(drawn),
      })),
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
