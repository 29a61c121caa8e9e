import { notAssessed } from '../conclude.ts';
import type { EchoSection } from '../section.ts';

const NEEDS = ['apical and parasternal 2D clips', 'a permitted model of the chambers'] as const;

/** Masks of the chambers on every frame (echo reference 3): no permitted model draws them yet. */
export const segmentChambers: EchoSection = {
  id: 'segment-chambers',
  title: 'Chamber masks',
  needs: NEEDS,
  measures: [],
  run: () =>
    notAssessed(
      NEEDS,
      'Chambers were not outlined: this version has no permitted model of the chambers of the adult heart.',
    ),
};
