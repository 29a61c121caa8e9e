import { conclude, finding } from '../conclude.ts';
import { rounded } from '../formulas/rounding.ts';
import type { EchoSection } from '../section.ts';
import { named, type Values } from '../values.ts';

const ID = 'wall-motion';
const NEEDS = ['apical and short-axis clips', 'a permitted model of the myocardium'] as const;

/** Score index of a ventricle in which every segment moves normally. */
const NORMAL = 1;

function run(_: unknown, values: Values) {
  const index = values.measurement('wall-motion-score-index');
  const raised = index !== null && rounded(index.value, 2) > NORMAL;
  return conclude(wallMotion, {
    measurements: [index],
    sentences: [
      index &&
        (raised
          ? 'The score index of the machine is raised'
          : 'The score index of the machine is normal'),
    ],
    gaps: [
      'Wall motion was not graded by segment, and no coronary territory is named: no permitted model follows the myocardium.',
    ],
    findings: [
      raised
        ? finding(
            ID,
            'wall-motion-abnormal',
            `${named(index)}: wall motion abnormality, segments not known`,
            'abnormal',
            [index],
          )
        : null,
    ],
  });
}

/** Wall motion by segment (echo reference 9); so far the index of the machine alone. */
export const wallMotion: EchoSection = {
  id: ID,
  title: 'Wall motion',
  needs: NEEDS,
  measures: ['wall-motion-score-index'],
  run,
};
