import { rounded } from '../../measure/rounding.ts';
import { IVC } from '../pulmonary-hypertension/guideline.ts';
import { classification, conclude, finding, GAPS, isChild } from '../shared/conclude.ts';
import type { EchoSection } from '../shared/section.ts';
import { named, shown, type Values } from '../shared/values.ts';
import { effusionGrade, isLarge, TAMPONADE_SCHEME, tamponadeStatement } from './guideline.ts';
import { type Effusion, type EffusionEvidence, effusionOf } from './judge.ts';

const ID = 'pericardial-effusion';
const NEEDS = [
  'PLAX, PSAX, A4C and subcostal clips',
  'mitral and tricuspid PW with respiration',
  'IVC',
] as const;

function plethora(values: Values): boolean | null {
  const diameter = values.number('ivc-diameter');
  const collapse = values.number('ivc-collapse');
  if (diameter === null || collapse === null) return null;
  return rounded(diameter, 0) > IVC.wide && rounded(collapse, 0) < IVC.sniff;
}

/** What was searched without finding fluid: no statement that there is none (echo 13). */
function searchedInWords({ fluid }: Effusion): string | null {
  const { searched, depth } = fluid;
  if (searched.length === 0) return null;
  if (depth) return 'The depth of the echo-free space around the heart was not measured.';
  const names = [...new Set(searched)].join(', ');
  return `No fluid was outlined in ${names}. How much fluid the model misses in patients is not known, so an effusion is not excluded.`;
}

/** A space free of echoes in two clips: perhaps fluid, and more is not said of it. */
function seenInWords({ fluid, outlinedLarge }: Effusion): string | null {
  if (fluid.seen.length === 0) return null;
  const names = [...new Set(fluid.seen)].join(', ');
  const size = outlinedLarge ? '; its outline is that of a large effusion' : '';
  return `An echo-free space was outlined around the heart in ${names}: possibly pericardial fluid, to be checked and measured by hand${size}`;
}

/** How large it is, and of which place that is known; null without a depth, or of a child. */
function sizeInWords({ grade, depth, deeperIn, behindWall, outlinedLarge }: Effusion) {
  if (depth && deeperIn) {
    const size = outlinedLarge ? ' (its outline there is that of a large effusion)' : '';
    return `Pericardial effusion of at least ${shown('effusion-depth', depth.value)} behind the posterior wall; deeper in the ${deeperIn} view${size}, to be measured there`;
  }
  if (!grade) return null;
  const place = behindWall && grade !== 'none' ? ', by its depth behind the posterior wall' : '';
  return `Pericardial effusion: ${grade}${place}`;
}

/** Fluid before the descending aorta is pericardial, behind it pleural; the aorta is not outlined. */
function pleuralCaveat({ fluid, behindWall }: Effusion): string | null {
  return behindWall && fluid.seen.every((view) => view === 'PLAX')
    ? 'The space was seen in PLAX alone: whether it lies in front of the descending aorta (pericardial) or behind it (pleural) was not assessed.'
    : null;
}

function run(evidence: EffusionEvidence, values: Values) {
  const effusion = effusionOf(evidence, values);
  const { depth, grade, deeperIn, outlinedLarge } = effusion;
  const seen = seenInWords(effusion);
  const fluid = depth !== null && effusionGrade(depth.value) !== 'none';
  const wide = plethora(values);
  const statement =
    depth &&
    tamponadeStatement({ effusion: fluid, collapse: null, variation: null, plethora: wide });
  const size = sizeInWords(effusion);
  const caveat = pleuralCaveat(effusion);
  const urgent =
    outlinedLarge ||
    (depth !== null && isLarge(depth.value)) ||
    (statement?.includes('urgent') ?? false);
  const graded = depth && `${named(depth)}: ${grade ? `${grade} ` : ''}pericardial effusion`;
  const severity = urgent ? 'critical' : 'abnormal';
  return conclude(pericardialEffusion, {
    measurements: [depth],
    seen: seen !== null,
    sentences: [depth ? null : seen, size, statement, caveat],
    gaps: [
      depth
        ? null
        : (searchedInWords(effusion) ??
          'The pericardium was not assessed: no depth was measured, and no clip was searched for fluid.'),
      depth && isChild(evidence) ? GAPS.age : null,
      deeperIn ? 'The effusion was not graded: its greatest depth was not measured.' : null,
      fluid ? 'Chamber collapse and respiratory variation were not assessed.' : null,
      depth && wide === null ? 'IVC plethora was not assessed.' : null,
    ],
    findings: [
      seen && !depth ? finding(ID, 'possible-effusion', seen, severity, []) : null,
      depth && fluid
        ? finding(
            ID,
            'pericardial-effusion',
            [`${deeperIn ? size : graded}; ${statement}`, caveat].filter(Boolean).join('. '),
            severity,
            [depth],
          )
        : null,
    ],
    classifications: [
      grade &&
        classification(ID, 'effusion-size', 'Pericardial effusion', grade, 'ASE 2013, ESC 2015'),
      statement && fluid && !isChild(evidence)
        ? classification(
            ID,
            'tamponade-signs',
            'Echo signs of tamponade',
            statement,
            TAMPONADE_SCHEME,
            [
              { name: 'chamber collapse', met: null },
              { name: 'respiratory variation', met: null },
              { name: 'IVC plethora', met: wide },
            ],
          )
        : null,
    ],
  });
}

/** Presence and size of pericardial fluid (echo 13). */
export const pericardialEffusion: EchoSection<EffusionEvidence> = {
  id: ID,
  title: 'Pericardial effusion',
  needs: NEEDS,
  measures: ['effusion-depth'],
  run,
};
