import { type FindingConceptKey, findingConcept } from '../../concepts/obstetric.ts';
import { CARDIAC_MOTION } from '../../measure/periodicity.ts';
import { NEAREST_FETUS, say } from '../../result/render/obstetric/presentation.ts';
import { SIMULATED_ONLY, weeksAndDays } from '../../result/render/obstetric/shared.ts';
import {
  type ClassificationDraft,
  criterion,
  type FindingDraft,
} from '../../result/section-outcome.ts';
import { finding, type Gap, type ObstetricSection, reasonOf } from '../shared/section.ts';
import type { SweepReading } from '../shared/sweeps.ts';
import {
  agreedPresentation,
  type Presentation,
  readPresentation,
  type SweptPresentation,
} from '../shared/sweeps.ts';
import { type FetalActivity, fetalActivity, type PresentationEvidence } from './judge.ts';

const ID = 'presentation';
const SWEEP = 'a sweep along the uterus whose view name says from where to where';
const CINE = `a cine of the fetal chest of at least ${CARDIAC_MOTION.seconds} s`;

/**
 * Gestational ages in days: before `variableUntil` (28+0 weeks), the presentation has no clinical
 * significance; from `breechFrom` (36+0 weeks), breech is a finding (obstetric 12).
 */
const PRESENTATION_DAYS = { variableUntil: 28 * 7, breechFrom: 36 * 7 } as const;

function sweepGap(
  sweeps: readonly SweepReading[],
  directed: readonly SweptPresentation[],
  contradicts: boolean,
): Gap | null {
  if (sweeps.length === 0) {
    return { code: 'view_missing', said: say.gap('presentation.no-sweep', {}), need: SWEEP };
  }
  if (directed.length === 0) {
    const said = say.gap('presentation.no-direction', {});
    return { code: 'direction_unknown', said, need: SWEEP };
  }
  if (contradicts) {
    const said = say.gap('presentation.sweeps-disagree', {});
    return { code: 'sweeps_disagree', said, need: 'a repeated sweep' };
  }
  if (directed.some(({ presentation }) => presentation !== null)) return null;
  return { code: 'low_confidence', said: say.gap('presentation.parts-not-found', {}), need: SWEEP };
}

/** Gap for several fetuses: a sweep does not show which head belongs to which trunk. */
const OTHER_FETUSES: Gap = {
  code: 'several_fetuses',
  said: say.gap('presentation.other-fetuses', {}),
  need: 'a sweep of each fetus by itself',
};

const CONCEPT_OF: Readonly<Record<Presentation, FindingConceptKey>> = {
  cephalic: 'cephalic-presentation',
  breech: 'breech-presentation',
};

/**
 * Returns the presentation and lie of one fetus. With several fetuses, returns only the presenting
 * part of the fetus nearest the cervix.
 */
function classify(
  presentation: Presentation,
  days: number | undefined,
  several: boolean,
): ClassificationDraft[] {
  const early = days !== undefined && days < PRESENTATION_DAYS.variableUntil;
  const lowest: ClassificationDraft[] = [
    {
      id: 'presentation',
      concept: findingConcept(early || several ? 'fetal-presentation' : CONCEPT_OF[presentation]),
      name: several ? `Presentation of ${NEAREST_FETUS}` : 'Presentation',
      value: early ? 'variable' : presentation,
      scheme: `part nearest the internal os; variable before ${weeksAndDays(PRESENTATION_DAYS.variableUntil)} weeks`,
      criteria: [
        criterion(
          'part nearest the cervix along the sweep',
          presentation === 'cephalic' ? 'head, trunk above it' : 'trunk, head above it',
          true,
        ),
      ],
    },
  ];
  if (several) return lowest;
  return [
    ...lowest,
    {
      id: 'lie',
      concept: findingConcept('fetal-lie'),
      name: 'Lie',
      value: 'longitudinal',
      scheme: 'head and trunk one above the other along the sweep; the angle was not measured',
      criteria: [criterion('head and trunk in separate parts of the sweep', null, true)],
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
  const found: FindingDraft[] = [];
  const fromDays = PRESENTATION_DAYS.breechFrom;
  if (presentation === 'breech' && days !== undefined && days >= fromDays) {
    const concept = several ? 'fetal-presentation' : 'breech-presentation';
    const said = say.conclusion('presentation.breech', { several, fromDays });
    found.push(finding('breech', concept, said, 'abnormal'));
  }
  if (fetuses > 1) {
    const id = 'multiple-pregnancy';
    const said = say.conclusion('presentation.multiple', { count: fetuses });
    found.push(finding(id, id, said, 'abnormal'));
  }
  if (cardiac.severity) {
    // An M-mode sweep without a beat has a separate finding (fetal-heart/judge-rate.ts).
    const id = 'cardiac-activity-on-cine';
    found.push(finding(id, 'cardiac-activity', cardiac.statement, cardiac.severity));
  }
  return found;
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
      ? [{ code: 'cine_missing', said: cardiac.statement, need: CINE }]
      : []),
  ];
  const fromDays = PRESENTATION_DAYS.variableUntil;
  const weight = days === undefined ? 'no-age' : days < fromDays ? 'too-early' : null;
  const statements = [
    ...(presentation
      ? [say.conclusion('presentation.presentation', { presentation, several, weight, fromDays })]
      : []),
    ...(fetuses === 1 ? [say.conclusion('presentation.one-fetus', {})] : []),
    ...(fetuses > 1 ? [say.conclusion('presentation.fetuses', { count: fetuses })] : []),
    ...(cardiac.state === 'not_assessed' ? [] : [cardiac.statement]),
    ...gaps.map(({ said }) => said),
  ];
  const nothing = presentation === null && fetuses === 0 && cardiac.state === 'not_assessed';
  return {
    status: nothing ? 'not_assessed' : gaps.length > 0 ? 'partial' : 'complete',
    reason: reasonOf(gaps),
    statements,
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
};

/** The section on presentation, lie, number of fetuses and cardiac activity (obstetric 12). */
export const presentation: ObstetricSection<PresentationEvidence> = {
  id: ID,
  title: 'Presentation',
  needs: [SWEEP, CINE],
  reads: ['presentation'],
  run,
};
