import { classification, conclude, finding } from '../conclude.ts';
import { rounded } from '../formulas/rounding.ts';
import { effusionGrade, tamponadeStatement } from '../guidelines/pericardium.ts';
import { IVC } from '../guidelines/pulmonary-pressure.ts';
import { fluidFinding } from '../parasternal/parasternal-values.ts';
import type { EchoEvidence, EchoSection } from '../section.ts';
import { named, type Values } from '../values.ts';

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

/** What was searched without finding fluid: no statement that there is none (reference 13). */
function searchedInWords({ views }: EchoEvidence): string | null {
  const { searched, depth } = views.parasternal
    ? fluidFinding(views.parasternal)
    : { searched: [], depth: null };
  if (searched.length === 0) return null;
  if (depth) return 'How deep the space outside of the heart is was not measured.';
  const names = [...new Set(searched)].join(', ');
  return `No fluid was outlined in ${names}; how much fluid the model misses in patients is not known, so that none is not said.`;
}

/** A space free of echoes in two clips: perhaps fluid, and more is not said of it. */
function seenInWords({ views }: EchoEvidence): string | null {
  const seen = views.parasternal ? fluidFinding(views.parasternal).seen : [];
  if (seen.length === 0) return null;
  const names = [...new Set(seen)].join(', ');
  return `A space free of echoes was outlined outside of the heart in ${names}: perhaps pericardial fluid, to be looked at and measured by hand`;
}

function run(evidence: EchoEvidence, values: Values) {
  const seen = seenInWords(evidence);
  const depth = values.measurement('effusion-depth');
  const grade = depth && effusionGrade(depth.value);
  const wide = plethora(values);
  const statement =
    grade &&
    tamponadeStatement({
      effusion: grade !== 'none',
      collapse: null,
      variation: null,
      plethora: wide,
    });
  const urgent = grade === 'large' || grade === 'very large';
  return conclude(pericardialEffusion, {
    measurements: [depth],
    seen: seen !== null,
    sentences: [depth ? null : seen, grade && `Pericardial effusion: ${grade}`, statement],
    gaps: [
      depth
        ? null
        : (searchedInWords(evidence) ??
          'The pericardium was not assessed: no depth was measured, and no clip was searched for fluid.'),
      depth && grade !== 'none'
        ? 'Chamber collapse and respiratory variation were not assessed.'
        : null,
      depth && wide === null ? 'IVC plethora was not assessed.' : null,
    ],
    findings: [
      seen && !depth ? finding(ID, 'possible-effusion', seen, 'abnormal', []) : null,
      depth && grade && grade !== 'none'
        ? finding(
            ID,
            'pericardial-effusion',
            `${named(depth)}: ${grade} pericardial effusion; ${statement}`,
            urgent ? 'critical' : 'abnormal',
            [depth],
          )
        : null,
    ],
    classifications: [
      grade &&
        classification(ID, 'effusion-size', 'Pericardial effusion', grade, 'ASE 2013, ESC 2015'),
      statement && grade !== 'none'
        ? classification(ID, 'tamponade-signs', 'Echo signs of tamponade', statement, 'ASE 2013', [
            { name: 'chamber collapse', met: null },
            { name: 'respiratory variation', met: null },
            { name: 'IVC plethora', met: wide },
          ])
        : null,
    ],
  });
}

/** Presence and size of pericardial fluid (echo reference 13). */
export const pericardialEffusion: EchoSection = {
  id: ID,
  title: 'Pericardial effusion',
  needs: NEEDS,
  measures: ['effusion-depth'],
  run,
};
