import { HEAD_STRUCTURES } from '../../pipelines/obstetric/locator.ts';
import { inView } from '../../pipelines/obstetric/plane-quality.ts';
import { headReadings } from './head-readings.ts';
import type { Classified } from './planes.ts';

/**
 * What the product says is in view on real heads, beside what was read by eye there: of the structures
 * said to be in view how many the reader saw, of those said not to be how many he did not see.
 */
export async function structureAgreement(classified: readonly Classified[]) {
  const readings = await headReadings();
  const pairs = classified.flatMap(({ one, estimate }) => {
    const reading = readings.get(`${one.dataset}/${one.image}`);
    return reading && estimate.structures ? [{ reading, structures: estimate.structures }] : [];
  });
  const of = (name: (typeof HEAD_STRUCTURES)[number]) => {
    const said = pairs.map(({ reading, structures }) => ({
      seen: inView(structures, name),
      read: reading.seen[name],
    }));
    const yes = said.filter(({ seen }) => seen === true);
    const no = said.filter(({ seen }) => seen === false);
    return {
      inView: yes.length,
      readToo: yes.filter(({ read }) => read).length,
      notInView: no.length,
      notReadEither: no.filter(({ read }) => !read).length,
      open: said.length - yes.length - no.length,
    };
  };
  return {
    heads: pairs.length,
    ...Object.fromEntries(HEAD_STRUCTURES.map((name) => [name, of(name)])),
  };
}
