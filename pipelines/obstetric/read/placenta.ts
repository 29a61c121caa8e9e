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
  /** Transabdominal frames of the placenta. */
  bodies: readonly (FramePlane & { located: PlacentaBody | null })[];
  /** Transvaginal frames of the lower uterus. */
  edges: readonly (FramePlane & { located: PlacentaEdge | null })[];
}

/** Placenta and its lower edge; null where no permitted model finds them. */
export const placentaReader: Reader<PlacentaReadings | null> = {
  stage: 'placenta',
  label: 'Looking at the placenta',
  read: async (input) => {
    const bodies = await readUterineFrames(input, ['placenta'], ({ at, drawn }) => ({
      ...at,
      located: placentaOfMaps(drawn),
    }));
    const edges = await readUterineFrames(input, ['cervix'], ({ at, drawn }) => ({
      ...at,
      located: placentaEdgeOfMaps(drawn),
    }));
    return bodies && edges && { bodies, edges };
  },
};
