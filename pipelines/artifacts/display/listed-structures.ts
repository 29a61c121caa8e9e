import { LOCATED_STRUCTURES, type StructureName } from '../../result/located-structure.ts';
import { closedOutline, type ListedStructure } from '../structures-in-sections.ts';
import type { Contour, Structure } from './overlay-contract.ts';

/** Those whose border is drawn as a contour. */
const CONTOURED = ['symphysis', 'fetal-head', 'fetal-abdomen'] as const satisfies (StructureName &
  Contour['structure'])[];

/** The structures that sections list on a clip, by name. */
export function structuresOn(file: string, listed: readonly ListedStructure[]): Structure[] {
  return listed
    .filter((one) => one.file === file)
    .map(({ frame, section, structure, confidence, accepted, place }) => ({
      frame,
      section,
      structure,
      label: LOCATED_STRUCTURES[structure],
      confidence,
      accepted,
      ...place,
    }));
}

/** The outlines among them. */
export function contoursOn(file: string, listed: readonly ListedStructure[]): Contour[] {
  return listed.flatMap((one) => {
    const structure = CONTOURED.find((name) => name === one.structure);
    const points = one.file === file && structure ? closedOutline(one.place) : null;
    if (!structure || !points) return [];
    return [{ frame: one.frame, structure, points, measured: one.accepted }];
  });
}
