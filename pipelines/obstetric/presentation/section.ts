import { type FindingConceptKey, findingConcept } from '../../concepts/concepts.ts';
import { CARDIAC_MOTION } from '../../measure/periodicity.ts';
import type { Result } from '../../result/envelope.ts';
import { weeksAndDays } from '../../result/gestational-age.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import { SIMULATED_ONLY } from '../shared/simulated-only.ts';
import type { SweepReading } from '../shared/sweeps.ts';
import {
  agreedPresentation,
  type Presentation,
  readPresentation,
  type SweptPresentation,
} from '../shared/sweeps.ts';
import type { PresentationEvidence } from './evidence.ts';
import { type FetalActivity, fetalActivity } from './judge.ts';

const ID = 'presentation';
const SWEEP = 'a sweep along the uterus whose view name says from where to where';
const CINE = `a cine of the fetal chest of at least ${CARDIAC_MOTION.seconds} s`;

/** Presentation has no clinical weight before 28+0 weeks and matters from 36+0 on (obstetric 12). */
export const PRESENTATION_DAYS = { fromWeight: 28 * 7, relevant: 36 * 7 } as const;

const FROM_WEIGHT = weeksAndDays(PRESENTATION_DAYS.fromWeight);

/** Of several fetuses the part nearest the cervix is that of one of them. */
const NEAREST = 'the fetus nearest the cervix';

interface Gap {
  code: string;
  detail: string;
  need: string;
}

function sweepGap(
  sweeps: readonly SweepReading[],
  directed: readonly SweptPresentation[],
  contradicts: boolean,
): Gap | null {
  if (sweeps.length === 0) {
    return {
      code: 'view_missing',
      detail:
        'Presentation, lie and number of fetuses were not assessed: no sweep of the uterus was found; a single frame does not prove them.',
      need: SWEEP,
    };
  }
  if (directed.length === 0) {
    return {
      code: 'direction_unknown',
      detail:
        'Presentation and lie were not assessed: the direction of the sweep along the mother is not known.',
      need: SWEEP,
    };
  }
  if (contradicts) {
    return {
      code: 'sweeps_disagree',
      detail: 'Presentation was not assessed: the sweeps contradict each other.',
      need: 'a repeated sweep',
    };
  }
  if (directed.every(({ presentation }) => presentation === null)) {
    return {
      code: 'low_confidence',
      detail:
        'Presentation and lie were not assessed: head and trunk were not both found along the sweep.',
      need: SWEEP,
    };
  }
  return null;
}

/** Which head and which trunk of several fetuses belong together a sweep does not show. */
const OTHER_FETUSES: Gap = {
  code: 'several_fetuses',
  detail: 'The presentation of the other fetuses, and the lie of each, were not assessed.',
  need: 'a sweep of each fetus by itself',
};

const CONCEPT_OF: Readonly<Record<Presentation, FindingConceptKey>> = {
  cephalic: 'cephalic-presentation',
  breech: 'breech-presentation',
};

/** The lie of one fetus; of several only the part nearest the cervix is told, and of which it is. */
function classify(
  presentation: Presentation,
  days: number | undefined,
  several: boolean,
): Result['classifications'] {
  const early = days !== undefined && days < PRESENTATION_DAYS.fromWeight;
  const lowest: Result['classifications'] = [
    {
      id: 'presentation',
      section: ID,
      // A presentation of SNOMED CT would be read as that of every fetus.
      concept: findingConcept(early || several ? 'fetal-presentation' : CONCEPT_OF[presentation]),
      name: several ? `Presentation of ${NEAREST}` : 'Presentation',
      value: early ? 'variable' : presentation,
      scheme: `part nearest the internal os; variable before ${FROM_WEIGHT} weeks`,
      criteria: [
        {
          name: 'part nearest the cervix along the sweep',
          value: presentation === 'cephalic' ? 'head, trunk above it' : 'trunk, head above it',
          met: true,
        },
      ],
    },
  ];
  if (several) return lowest;
  return [
    ...lowest,
    {
      id: 'lie',
      section: ID,
      concept: findingConcept('fetal-lie'),
      name: 'Lie',
      value: 'longitudinal',
      scheme: 'head and trunk one above the other along the sweep; the angle was not measured',
      criteria: [
        { name: 'head and trunk in separate parts of the sweep', value: 'yes', met: true },
      ],
    },
  ];
}

function findings(
  presentation: Presentation | null,
  fetuses: number,
  several: boolean,
  days: number | undefined,
  cardiac: FetalActivity,
): FindingDraft[] {
  const base = { section: ID, confidence: null, evidence: [] };
  const relevant = days !== undefined && days >= PRESENTATION_DAYS.relevant;
  return [
    ...(presentation === 'breech' && relevant
      ? [
          {
            ...base,
            id: 'breech',
            concept: findingConcept(several ? 'fetal-presentation' : 'breech-presentation'),
            text: `Breech presentation ${several ? `of ${NEAREST} ` : ''}at or after ${weeksAndDays(PRESENTATION_DAYS.relevant)} weeks; the kind of breech was not assessed.`,
            severity: 'abnormal' as const,
          },
        ]
      : []),
    ...(fetuses > 1
      ? [
          {
            ...base,
            id: 'multiple-pregnancy',
            concept: findingConcept('multiple-pregnancy'),
            text: `Heads and trunks of at least ${fetuses} fetuses follow each other along one sweep; chorionicity was not assessed.`,
            severity: 'abnormal' as const,
          },
        ]
      : []),
    ...(cardiac.severity
      ? [
          {
            ...base,
            // An M-mode without a beat is a finding of its own (fetal-heart-silence.ts).
            id: 'cardiac-activity-on-cine',
            concept: findingConcept('cardiac-activity'),
            text: cardiac.sentence,
            severity: cardiac.severity,
          },
        ]
      : []),
  ];
}

const run: ObstetricSection<PresentationEvidence>['run'] = (evidence) => {
  const { sweeps = [] } = evidence.views.presentation ?? {};
  const days = evidence.options.dating?.ga_days;
  const directed = sweeps.filter(({ direction }) => direction !== null).map(readPresentation);
  const { presentation, contradicts } = agreedPresentation(directed);
  const fetuses = Math.max(0, ...directed.map((read) => read.fetuses));
  const several = evidence.severalFetuses !== null;
  const cardiac = fetalActivity(evidence);
  const gap = sweepGap(sweeps, directed, contradicts);
  const gaps: Gap[] = [
    ...(gap ? [gap] : []),
    ...(presentation && several ? [OTHER_FETUSES] : []),
    ...(cardiac.state === 'not_assessed'
      ? [{ code: 'cine_missing', detail: cardiac.sentence, need: CINE }]
      : []),
  ];
  const weight =
    days === undefined
      ? ' Gestational age was not given, so its weight was not judged.'
      : days < PRESENTATION_DAYS.fromWeight
        ? ` It is variable before ${FROM_WEIGHT} weeks and has no clinical weight.`
        : '';
  const parts = [
    ...(presentation
      ? [
          several
            ? `${presentation === 'cephalic' ? 'Cephalic' : 'Breech'} presentation of ${NEAREST}.${weight}`
            : `Longitudinal lie, ${presentation} presentation.${weight}`,
        ]
      : []),
    ...(fetuses > 0
      ? [
          fetuses === 1
            ? 'One fetal head was seen in the swept part of the uterus.'
            : `At least ${fetuses} fetuses.`,
        ]
      : []),
    ...(cardiac.state === 'not_assessed' ? [] : [cardiac.sentence]),
    ...gaps.map(({ detail }) => detail),
  ];
  const nothing = presentation === null && fetuses === 0 && cardiac.state === 'not_assessed';
  const outcome: SectionOutcome = {
    status: nothing ? 'not_assessed' : gaps.length > 0 ? 'partial' : 'complete',
    reason:
      gaps.length > 0
        ? {
            code: gaps[0]?.code ?? 'parts_missing',
            detail: gaps.map(({ detail }) => detail).join(' '),
            needs: gaps.map(({ need }) => need),
          }
        : null,
    summary: parts.join(' '),
    data: {
      presentation: presentation ?? 'not_assessed',
      lie: presentation && !several ? 'longitudinal' : 'not_assessed',
      fetuses_seen: fetuses > 0 ? fetuses : null,
      cardiac_activity: cardiac.state,
      movements: 'not_assessed',
      chorionicity: 'not_assessed',
      limitation: SIMULATED_ONLY,
    },
    classifications: presentation ? classify(presentation, days, several) : [],
    findings: findings(presentation, fetuses, several, days, cardiac),
  };
  return outcome;
};

/** Presentation, lie, number of fetuses and cardiac activity (obstetric 12). */
export const presentation: ObstetricSection<PresentationEvidence> = {
  id: ID,
  title: 'Presentation',
  needs: [SWEEP, CINE],
  reads: ['presentation'],
  run,
};
