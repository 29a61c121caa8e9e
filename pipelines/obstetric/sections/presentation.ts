import { type FindingConceptKey, findingConcept } from '../../result/concepts.ts';
import type { Finding, Result } from '../../result/envelope.ts';
import { format } from '../measurement.ts';
import type { CardiacReading, SweepReading } from '../read/presentation.ts';
import type { ObstetricSection, SectionOutcome } from '../section.ts';
import { SIMULATED_ONLY } from '../simulated-only.ts';
import type { FetalPart } from '../sweep-runs.ts';

const ID = 'presentation';
const SWEEP = 'a sweep along the uterus whose view name says from where to where';
const CINE = 'a cine of the fetal chest of at least 1.5 s';

/** Presentation has no clinical weight before 28+0 weeks and matters from 36+0 on (reference 12). */
export const PRESENTATION_DAYS = { fromWeight: 196, relevant: 252 } as const;

type Presentation = 'cephalic' | 'breech';

interface Read {
  fetuses: number;
  presentation: Presentation | null;
}

/** Parts from the cervix upwards, whichever way the sweep went; what follows its like is the same. */
function fromCervix({ runs, direction }: SweepReading): FetalPart[] {
  const parts = runs.map(({ part }) => part);
  const upwards = direction === 'to-caudal' ? parts.toReversed() : parts;
  return upwards.filter((part, index) => part !== upwards[index - 1]);
}

/**
 * What one sweep of known direction shows: whether the part nearest the cervix is a head with the
 * trunk above it, or the reverse, and how many fetuses follow each other: one has one head and one
 * trunk. Without a head nothing is counted.
 */
export function readPresentation(sweep: SweepReading): Read {
  const parts = fromCervix(sweep);
  const heads = parts.filter((part) => part === 'head').length;
  const trunks = parts.length - heads;
  return {
    fetuses: heads === 0 ? 0 : Math.max(heads, trunks),
    presentation: heads === 0 || trunks === 0 ? null : parts[0] === 'head' ? 'cephalic' : 'breech',
  };
}

function agreed(reads: readonly Read[]): {
  presentation: Presentation | null;
  contradicts: boolean;
} {
  const found = new Set(reads.flatMap(({ presentation }) => presentation ?? []));
  const [only] = found;
  return { presentation: found.size === 1 && only ? only : null, contradicts: found.size > 1 };
}

interface Gap {
  code: string;
  detail: string;
  need: string;
}

function sweepGap(
  sweeps: readonly SweepReading[],
  directed: readonly Read[],
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

interface Cardiac {
  state: 'present' | 'not_seen' | 'not_assessed';
  sentence: string;
}

/** Activity is looked for in a cine of the chest only: from a still it is not assessed. */
function cardiacOf(readings: readonly CardiacReading[]): Cardiac {
  const rates = readings.flatMap(({ activity }) =>
    activity.status === 'beating' ? activity.beatsPerMinute : [],
  );
  const [rate] = rates;
  if (rate !== undefined) {
    return {
      state: 'present',
      sentence: `Cardiac activity seen, ${format('fetal-heart-rate', rate)}.`,
    };
  }
  const silent = readings.find(({ activity }) => activity.status === 'not-seen');
  if (silent) {
    const seconds = silent.clip.frames.at(-1)?.time ?? 0;
    return {
      state: 'not_seen',
      sentence: `No cardiac activity was seen during the recorded clip of ${seconds.toFixed(1)} s; confirmation by a second observer is required.`,
    };
  }
  return {
    state: 'not_assessed',
    sentence:
      'Cardiac activity was not assessed: no cine of the fetal chest was long and quick enough.',
  };
}

const CONCEPT_OF: Readonly<Record<Presentation, FindingConceptKey>> = {
  cephalic: 'cephalic-presentation',
  breech: 'breech-presentation',
};

function classify(presentation: Presentation, days: number | undefined): Result['classifications'] {
  const early = days !== undefined && days < PRESENTATION_DAYS.fromWeight;
  return [
    {
      id: 'presentation',
      section: ID,
      concept: findingConcept(early ? 'fetal-presentation' : CONCEPT_OF[presentation]),
      name: 'Presentation',
      value: early ? 'variable' : presentation,
      scheme: 'part nearest the internal os; variable before 28+0 weeks',
      criteria: [
        {
          name: 'part nearest the cervix along the sweep',
          value: presentation === 'cephalic' ? 'head, trunk above it' : 'trunk, head above it',
          met: true,
        },
      ],
    },
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
  days: number | undefined,
  cardiac: Cardiac,
): Finding[] {
  const base = { section: ID, confidence: null, evidence: [] };
  const relevant = days !== undefined && days >= PRESENTATION_DAYS.relevant;
  return [
    ...(presentation === 'breech' && relevant
      ? [
          {
            ...base,
            id: 'breech',
            concept: findingConcept('breech-presentation'),
            text: 'Breech presentation at or after 36+0 weeks; the kind of breech was not assessed.',
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
    ...(cardiac.state === 'not_seen'
      ? [
          {
            ...base,
            id: 'cardiac-activity',
            concept: findingConcept('cardiac-activity'),
            text: cardiac.sentence,
            severity: 'critical' as const,
          },
        ]
      : []),
  ];
}

const run: ObstetricSection['run'] = ({ views, options }) => {
  const { sweeps = [], cardiac: cines = [] } = views.presentation ?? {};
  const days = options.dating?.ga_days;
  const directed = sweeps.filter(({ direction }) => direction !== null).map(readPresentation);
  const { presentation, contradicts } = agreed(directed);
  const fetuses = Math.max(0, ...directed.map((read) => read.fetuses));
  const cardiac = cardiacOf(cines);
  const gap = sweepGap(sweeps, directed, contradicts);
  const gaps: Gap[] = [
    ...(gap ? [gap] : []),
    ...(cardiac.state === 'not_assessed'
      ? [{ code: 'cine_missing', detail: cardiac.sentence, need: CINE }]
      : []),
  ];
  const weight =
    days === undefined
      ? ' Gestational age was not given, so its weight was not judged.'
      : days < PRESENTATION_DAYS.fromWeight
        ? ' It is variable before 28+0 weeks and has no clinical weight.'
        : '';
  const parts = [
    ...(presentation ? [`Longitudinal lie, ${presentation} presentation.${weight}`] : []),
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
      lie: presentation ? 'longitudinal' : 'not_assessed',
      fetuses_seen: fetuses > 0 ? fetuses : null,
      cardiac_activity: cardiac.state,
      movements: 'not_assessed',
      chorionicity: 'not_assessed',
      limitation: SIMULATED_ONLY,
    },
    classifications: presentation ? classify(presentation, days) : [],
    findings: findings(presentation, fetuses, days, cardiac),
  };
  return outcome;
};

/** Presentation, lie, number of fetuses and cardiac activity (obstetric reference 12). */
export const presentation: ObstetricSection = {
  id: ID,
  title: 'Presentation',
  needs: [SWEEP, CINE],
  reads: ['presentation'],
  run,
};
