import type { Reader } from '../shared/reader.ts';
import { readUterineFrames, type UterineModels } from '../shared/uterine-maps.ts';
import { namedView } from '../shared/view-names.ts';
import type { PlacentaReadings } from './evidence.ts';
import { placentaEdgeOfMaps, placentaOfMaps } from './locate.ts';

/** Locates the placenta and its lower edge. */
export const placentaReader: Reader<PlacentaReadings, UterineModels> = {
  stage: 'placenta',
  label: 'Looking at the placenta',
  read: async (input) => {
    const { uterus } = input.locator.uncertainty;
    return {
      // One image often shows both fluid and placenta, but is classified as only one of these
      // views.
      bodies: await readUterineFrames(input, ['placenta', 'amniotic-fluid'], ({ at, drawn }) => {
        const located = placentaOfMaps(drawn);
        return at.estimate.label === 'placenta' || located?.accepted ? { ...at, located } : null;
      }),
      edges: await readUterineFrames(input, ['cervix'], ({ at, drawn }) => ({
        ...at,
        route: namedView(at.clip).route,
        located: placentaEdgeOfMaps(drawn),
      })),
      uncertainty: {
        toOs: uterus?.placentaToOs ?? null,
        thickness: uterus?.placentalThickness ?? null,
      },
    };
  },
};
