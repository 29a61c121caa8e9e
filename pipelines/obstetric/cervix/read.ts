import type { FramePlane } from '../shared/key-frames.ts';
import type { Reader } from '../shared/reader.ts';
import { readUterineFrames } from '../shared/uterine-frames.ts';
import { type CervixLandmarks, cervixOfMaps } from './locate.ts';

/** The cervix on one frame; null: a frame of the plane on which no canal was found. */
export interface CervixReading extends FramePlane {
  located: CervixLandmarks | null;
}

export interface CervixReadings {
  /** Null where no permitted model finds the cervix. */
  frames: readonly CervixReading[] | null;
  /** Half width of the 95 % interval of the length, mm. */
  uncertainty: number | null;
}

/** Canal, ora and funnel on the transvaginal frames. */
export const cervixReader: Reader<CervixReadings> = {
  stage: 'cervix',
  label: 'Looking at the cervix',
  read: async (input) => ({
    frames: await readUterineFrames(input, ['cervix'], ({ at, drawn }) => ({
      ...at,
      located: cervixOfMaps(drawn),
    })),
    uncertainty: input.locator.uncertainty.uterus?.cervicalLength ?? null,
  }),
};
