import type { FramePlane } from '../frame-plane.ts';
import { type CervixLandmarks, cervixOfMaps } from '../locate/cervix-landmarks.ts';
import type { Reader } from '../reader.ts';
import { readUterineFrames } from './uterine-frames.ts';

/** The cervix on one frame; null: a frame of the plane on which no canal was found. */
export interface CervixReading extends FramePlane {
  located: CervixLandmarks | null;
}

/** Canal, ora and funnel on the transvaginal frames; null where no permitted model finds them. */
export const cervixReader: Reader<readonly CervixReading[] | null> = {
  stage: 'cervix',
  label: 'Looking at the cervix',
  read: (input) =>
    readUterineFrames(input, ['cervix'], ({ at, drawn }) => ({
      ...at,
      located: cervixOfMaps(drawn),
    })),
};
