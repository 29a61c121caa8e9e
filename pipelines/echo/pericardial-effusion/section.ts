import {
  categoryOfEffusion,
  sayOfEffusion,
} from '../../result/render/echo/pericardial-effusion.ts';
import type { Statement } from '../../result/statement.ts';
import { IVC, isPlethoric } from '../pulmonary-hypertension/guideline.ts';
import {
  classification,
  conclude,
  type EchoSection,
  finding,
  isChild,
  PATIENT_GAPS,
  type Values,
} from '../shared/section.ts';
import {
  effusionGrade,
  isLarge,
  isUrgent,
  TAMPONADE_SCHEME,
  tamponadeStatement,
} from './guideline.ts';
import { type Effusion, type EffusionEvidence, effusionOf } from './judge.ts';

const ID = 'pericardial-effusion';
const NEEDS = [
  'PLAX, PSAX, A4C and subcostal clips',
  'mitral and tricuspid PW with respiration',
  'IVC',
] as const;

function plethoraOf(values: Values): { plethora: boolean | null; unknown: Statement | null } {
  const diameter = values.number('ivc-diameter');
  const collapse = values.number('ivc-collapse');
  if (diameter === null || collapse === null) {
    return { plethora: null, unknown: sayOfEffusion.gap('effusion.plethora-not-assessed', {}) };
  }
  const plethora = isPlethoric(diameter, collapse);
  const atLimit = sayOfEffusion.gap('effusion.plethora-at-limit', { limit: IVC.sniff });
  return { plethora, unknown: plethora === null ? atLimit : null };
}

/**
 * Reports why no depth is given: no clip was searched, the depth was not accepted, or no fluid was
 * found. The last does not exclude an effusion (echo 13).
 */
function searchedGap({ fluid: { searched, depth } }: Effusion): Statement {
  if (searched.length === 0) return sayOfEffusion.gap('effusion.not-searched', {});
  return depth
    ? sayOfEffusion.gap('effusion.depth-not-measured', {})
    : sayOfEffusion.gap('effusion.none-outlined', { views: searched });
}

function possibleFluid({
  fluid: { seen: views },
  outlinedLarge: large,
}: Effusion): Statement | null {
  if (views.length === 0) return null;
  return sayOfEffusion.conclusion('effusion.possible', { views, large });
}

function sizeOf({ grade, depth, deeperIn, behindWall, outlinedLarge: large }: Effusion) {
  if (depth && deeperIn) {
    const params = { view: deeperIn, large };
    return sayOfEffusion.conclusion('effusion.deeper-elsewhere', params, [depth]);
  }
  if (!grade) return null;
  const place = behindWall && grade !== 'none';
  return sayOfEffusion.conclusion('effusion.size', { grade, behindWall: place });
}

/**
 * Returns true if the fluid may be pleural. Pericardial fluid is in front of the descending aorta
 * and pleural fluid is behind it, but the aorta is not outlined.
 */
const mayBePleural = ({ fluid, behindWall }: Effusion) =>
  behindWall && fluid.seen.length > 0 && fluid.seen.every((view) => view === 'PLAX');

function run(evidence: EffusionEvidence, values: Values) {
  const effusion = effusionOf(evidence, values);
  const { depth, grade, deeperIn, outlinedLarge } = effusion;
  const possible = possibleFluid(effusion);
  const fluid = depth !== null && effusionGrade(depth.value) !== 'none';
  const { plethora, unknown } = plethoraOf(values);
  const tamponade =
    depth && tamponadeStatement({ effusion: fluid, collapse: null, variation: null, plethora });
  const pleural = mayBePleural(effusion);
  const urgent =
    outlinedLarge ||
    (depth !== null && isLarge(depth.value)) ||
    (tamponade !== null && isUrgent(tamponade));
  const severity = urgent ? 'critical' : 'abnormal';
  return conclude(pericardialEffusion, {
    measurements: [depth],
    seen: possible !== null,
    conclusions: [
      depth ? null : possible,
      sizeOf(effusion),
      tamponade && fluid
        ? sayOfEffusion.conclusion('effusion.tamponade', { statement: tamponade })
        : null,
      pleural ? sayOfEffusion.conclusion('effusion.may-be-pleural', {}) : null,
    ],
    gaps: [
      depth ? null : searchedGap(effusion),
      depth && isChild(evidence) ? PATIENT_GAPS.child : null,
      deeperIn ? sayOfEffusion.gap('effusion.greatest-not-measured', {}) : null,
      fluid ? sayOfEffusion.gap('effusion.signs-not-assessed', {}) : null,
      fluid ? unknown : null,
    ],
    findings: [
      possible && !depth ? finding('possible-effusion', possible, severity, []) : null,
      depth && fluid && tamponade
        ? finding(
            'pericardial-effusion',
            sayOfEffusion.conclusion(
              'effusion.found',
              { grade, deeperIn, large: outlinedLarge, tamponade, pleural },
              [depth],
            ),
            severity,
          )
        : null,
    ],
    classifications: [
      grade &&
        classification(
          'effusion-size',
          'Pericardial effusion',
          categoryOfEffusion('effusion', grade),
          'ASE 2013, ESC 2015',
        ),
      tamponade && fluid && !isChild(evidence)
        ? classification(
            'tamponade-signs',
            'Echo signs of tamponade',
            categoryOfEffusion('tamponade', tamponade),
            TAMPONADE_SCHEME,
            [
              { name: 'chamber collapse', met: null },
              { name: 'respiratory variation', met: null },
              { name: 'IVC plethora', met: plethora },
            ],
          )
        : null,
    ],
  });
}

/** Reports the presence and size of pericardial fluid (echo 13). */
export const pericardialEffusion: EchoSection<EffusionEvidence> = {
  id: ID,
  title: 'Pericardial effusion',
  needs: NEEDS,
  measures: ['effusion-depth'],
  run,
};
