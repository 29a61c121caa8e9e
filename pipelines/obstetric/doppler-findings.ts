import { centileText } from '../result/centile-text.ts';
import { type FindingConceptKey, findingConcept } from '../result/concepts.ts';
import type { Finding, Measurement, Result } from '../result/envelope.ts';
import {
  ANAEMIA_MOM,
  type DopplerState,
  type DopplerSummary,
  LOW_CPR,
  MCA_ANGLE,
  rank,
} from './doppler-categories.ts';
import { FLOW_TEXT } from './doppler-flow.ts';
import { DOPPLER_SECTION } from './doppler-measurements.ts';
import { numberText } from './number-text.ts';

/** Technique and thresholds of obstetric Doppler. */
export const ISUOG = 'ISUOG 2021, Ultrasound Obstet Gynecol 58:331-339';

/** The accepted measurement of an id. */
export const acceptedAt = (measurements: readonly Measurement[], id: string) =>
  measurements.find((one) => one.id === id && one.quality === 'accepted') ?? null;

/** Low, normal or high by its chart; null where it has none. */
export const rankOf = (measurements: readonly Measurement[], id: string) => {
  const reference = acceptedAt(measurements, id)?.reference;
  return reference && reference.centile !== null ? rank(reference) : null;
};

function classification(
  id: FindingConceptKey,
  name: string,
  value: string,
  scheme: string,
  criteria: [name: string, value: string, met: boolean][],
): Result['classifications'][number] {
  return {
    id,
    section: DOPPLER_SECTION,
    concept: findingConcept(id),
    name,
    value,
    scheme,
    criteria: criteria.map(([criterion, shown, met]) => ({ name: criterion, value: shown, met })),
  };
}

/** A finding of this section under the key of its concept. */
export function finding(
  id: FindingConceptKey,
  text: string,
  severity: Finding['severity'],
  evidence: string[],
): Finding {
  return {
    id,
    section: DOPPLER_SECTION,
    concept: findingConcept(id),
    text,
    severity,
    confidence: null,
    evidence,
  };
}

/** The median holds for velocities along the vessel (obstetric reference 13.4). */
export const ANGLE_UNKNOWN = `the angle was not given; the median holds for at most ${MCA_ANGLE} degrees`;

/** What lies outside its chart. */
export function rankFindings(measurements: readonly Measurement[], state: DopplerState): Finding[] {
  const shown = (id: string) => {
    const one = acceptedAt(measurements, id);
    return one ? numberText(one) : '';
  };
  const uterine = rankOf(measurements, 'uterine-artery-mean-pi');
  const mom = acceptedAt(measurements, 'middle-cerebral-artery-psv-mom');
  const remark = mom?.note?.includes(ANGLE_UNKNOWN) ? ` Remark: ${ANGLE_UNKNOWN}.` : '';
  return [
    ...(state.umbilicalPi === 'H'
      ? [
          finding(
            'umbilical-artery-doppler',
            `Umbilical artery PI ${shown('umbilical-artery-pi')}, above the 95th centile.`,
            'abnormal',
            ['umbilical-artery-pi'],
          ),
        ]
      : []),
    ...(state.cerebralPi === 'L' || state.cpr === 'L'
      ? [
          finding(
            'cerebral-redistribution',
            state.cpr === 'L'
              ? `Cerebroplacental ratio ${shown('cerebroplacental-ratio')}, below the 5th centile.`
              : `MCA PI ${shown('middle-cerebral-artery-pi')}, below the 5th centile.`,
            'abnormal',
            state.cpr === 'L' ? ['cerebroplacental-ratio'] : ['middle-cerebral-artery-pi'],
          ),
        ]
      : []),
    ...(mom && mom.value >= ANAEMIA_MOM.moderate
      ? [
          finding(
            'fetal-anaemia-signal',
            `MCA peak systolic velocity ${numberText(mom)} multiples of the median: sign of moderate to severe fetal anaemia.${remark}`,
            'abnormal',
            [mom.id],
          ),
        ]
      : []),
    ...(mom && mom.value >= ANAEMIA_MOM.mild && mom.value < ANAEMIA_MOM.moderate
      ? [
          finding(
            'fetal-anaemia-signal',
            `MCA peak systolic velocity ${numberText(mom)} multiples of the median: in the range of mild fetal anaemia, below the limit of the flag.${remark}`,
            'info',
            [mom.id],
          ),
        ]
      : []),
    ...(uterine === 'H'
      ? [
          finding(
            'uterine-artery-doppler',
            `Mean uterine artery PI ${shown('uterine-artery-mean-pi')}, above the 95th centile.`,
            'abnormal',
            ['uterine-artery-mean-pi'],
          ),
        ]
      : []),
  ];
}

/** Every category that could be drawn, with its criteria. */
export function classify(
  measurements: readonly Measurement[],
  state: DopplerState,
  category: DopplerSummary,
): Result['classifications'] {
  const centile = (id: string) => {
    const found = acceptedAt(measurements, id)?.reference?.centile ?? null;
    return found === null ? 'not assessed' : centileText(found);
  };
  const ratio = acceptedAt(measurements, 'cerebroplacental-ratio');
  const mom = acceptedAt(measurements, 'middle-cerebral-artery-psv-mom');
  const uterine = rankOf(measurements, 'uterine-artery-mean-pi');
  const rankName = { L: 'low', N: 'normal', H: 'high' } as const;
  return [
    ...(state.flow
      ? [
          classification('end-diastolic-flow', 'Umbilical end-diastolic flow', state.flow, ISUOG, [
            ['flow in end diastole of most beats', FLOW_TEXT[state.flow], true],
          ]),
        ]
      : []),
    ...(ratio
      ? [
          classification(
            'cerebral-redistribution',
            'Cerebroplacental ratio',
            state.cpr ? rankName[state.cpr] : 'without a centile',
            'FMF 2019, 5th centile',
            [
              ['centile below 5', centile('cerebroplacental-ratio'), state.cpr === 'L'],
              [`ratio below ${LOW_CPR}`, numberText(ratio), ratio.value < LOW_CPR],
            ],
          ),
        ]
      : []),
    ...(mom && state.anaemia
      ? [
          classification('fetal-anaemia-signal', 'MCA peak velocity', state.anaemia, 'Mari 2000', [
            [`at least ${ANAEMIA_MOM.mild} MoM`, numberText(mom), mom.value >= ANAEMIA_MOM.mild],
            [
              `at least ${ANAEMIA_MOM.moderate} MoM`,
              numberText(mom),
              mom.value >= ANAEMIA_MOM.moderate,
            ],
          ]),
        ]
      : []),
    ...(uterine
      ? [
          classification(
            'uterine-artery-doppler',
            'Uterine artery mean PI',
            rankName[uterine],
            'Gomez 2008, 95th centile',
            [['centile above 95', centile('uterine-artery-mean-pi'), uterine === 'H']],
          ),
        ]
      : []),
    classification('fetal-doppler', 'Doppler summary', category, 'gravest of the above', [
      [
        'end-diastolic flow absent or reversed',
        state.flow ? FLOW_TEXT[state.flow] : 'not assessed',
        state.flow === 'absent' || state.flow === 'reversed',
      ],
      [
        'umbilical artery PI above the 95th centile',
        centile('umbilical-artery-pi'),
        state.umbilicalPi === 'H',
      ],
      [
        'MCA PI below the 5th centile',
        centile('middle-cerebral-artery-pi'),
        state.cerebralPi === 'L',
      ],
    ]),
  ];
}
