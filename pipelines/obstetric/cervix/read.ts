import type { Reader } from '../shared/reader.ts';
import { readUterineFrames, type UterineModels } from '../shared/uterine-maps.ts';
import { namedView } from '../shared/view-names.ts';
import type { CervixReadings } from './evidence.ts';
import { cervixOfMaps } from './locate.ts';

/** Finds the canal, both of its ends and the funnel on the frames that show the cervix. */
export const cervixReader: Reader<CervixReadings, UterineModels> = {
  stage: 'cervix',
  label: 'Looking at the cervix',
  read: async (input) => ({
    frames: await readUterineFrames(input, ['cervix'], ({ at, drawn }) => ({
      ...at,
      route: namedView(at.clip).route,
      located: cervixOfMaps(drawn),
    })),
    uncertainty: input.locator.uncertainty.uterus?.cervicalLength ?? null,
  }),
};
