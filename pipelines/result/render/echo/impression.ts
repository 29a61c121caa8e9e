import type { EchoConcept } from '../../../concepts/echo.ts';
import type { Measurement } from '../../envelope.ts';
import type * as impression from '../../impression.ts';
import { type Param, type Statement, statementsOf } from '../../statement.ts';
import type { CATEGORY_SENTENCES } from './categories.ts';
import {
  type DIASTOLIC_SENTENCES,
  type DiastolicResult,
  gradeOf,
  type Scheme,
} from './diastolic.ts';
import { type ECHO_IMPRESSION, type Graded, isNormalFilling } from './impression-sentences.ts';
import type { LA_VOLUME_SENTENCES } from './la-volume.ts';
import type { LV_SIZE_SENTENCES } from './lv-size.ts';
import type { LV_STRAIN_SENTENCES } from './lv-strain.ts';
import type { LVEF_SENTENCES } from './lvef.ts';
import type { EFFUSION_SENTENCES } from './pericardial-effusion.ts';
import type { PULMONARY_HYPERTENSION_SENTENCES } from './pulmonary-hypertension.ts';
import type { RV_FUNCTION_SENTENCES } from './rv-function.ts';
import {
  type Abnormality,
  abnormalityOf,
  type ECHO_SENTENCES,
  type EfReadings,
  isNormalGeometry,
} from './shared.ts';
import type { VALVES_SENTENCES } from './valves.ts';
import type { WALL_MOTION_SENTENCES } from './wall-motion.ts';

/** Sentences of the sections from which the impression is made. */
type Sentences = typeof ECHO_SENTENCES &
  typeof CATEGORY_SENTENCES &
  typeof DIASTOLIC_SENTENCES &
  typeof EFFUSION_SENTENCES &
  typeof LA_VOLUME_SENTENCES &
  typeof LV_SIZE_SENTENCES &
  typeof LV_STRAIN_SENTENCES &
  typeof LVEF_SENTENCES &
  typeof PULMONARY_HYPERTENSION_SENTENCES &
  typeof RV_FUNCTION_SENTENCES &
  typeof VALVES_SENTENCES &
  typeof WALL_MOTION_SENTENCES;
type Clause = impression.Clause<Sentences>;
type Said = impression.Said<Sentences>;
type Topic = impression.Topic<Sentences>;

/**
 * Algorithms that grade diastolic function as a whole. The result of an algorithm that only detects
 * dysfunction is not listed in the impression, but can change its wording (`presenceOf`).
 */
const ALGORITHMS: Readonly<Partial<Record<Scheme, Pick<Graded, 'by' | 'year'>>>> = {
  '2016-a': { by: 'ASE/EACVI', year: 2016 },
  '2016-b': { by: 'ASE/EACVI', year: 2016 },
  '2025': { by: 'ASE', year: 2025 },
  '2025-fibrillation': { by: 'ASE, if the rhythm is atrial fibrillation,', year: 2025 },
};

const say = statementsOf<typeof ECHO_IMPRESSION>();

/** Returns the statement with another code, whose sentence is worded for the impression. */
const rename = (
  statement: Statement | null,
  code: keyof typeof ECHO_IMPRESSION,
): Statement | null => statement && { ...statement, code };

/** Measures of LV size. The volume index is preferred (ASE15). */
const LV_SIZES = ['lvedv-index', 'lvidd'] as const satisfies readonly EchoConcept[];
const WALLS = ['ivsd', 'lvpwd'] as const satisfies readonly EchoConcept[];

function lvSize(said: Said): Statement | null {
  const rated = said.values(LV_SIZES).filter(({ interpretation }) => interpretation !== null);
  const size = rated[0]?.interpretation;
  if (!size) {
    // A value has no reference range if the patient is a child, or if the sex is unknown and the
    // ranges of the two sexes yield different sizes.
    const [ungraded] = said.values(LV_SIZES).filter(({ reference }) => reference === null);
    const sexUnknown = said.find('echo.sex-unknown') !== null;
    return ungraded
      ? say.conclusion('impression.lv-size-ungraded', { sexUnknown }, [ungraded])
      : null;
  }
  const agreeing = rated.filter(({ interpretation }) => interpretation === size);
  const others = rated.filter(({ interpretation }) => interpretation !== size);
  return say.conclusion('impression.lv-size', { size, agreeing: agreeing.length }, [
    ...agreeing,
    ...others,
  ]);
}

/**
 * Returns the statement on abnormal geometry, or on thick walls if the geometry is not abnormal.
 */
function lvWalls(said: Said): Statement | null {
  const geometry = said.find('lv-size.geometry')?.params.geometry;
  if (geometry && !isNormalGeometry(geometry)) {
    const values = said.values(['lv-mass-index', 'relative-wall-thickness']);
    return say.conclusion('impression.lv-geometry', { geometry }, values);
  }
  const thick = said.values(WALLS).filter(({ interpretation }) => interpretation === 'H');
  return thick.length > 0 ? say.conclusion('impression.lv-walls', {}, thick) : null;
}

/**
 * Returns the categories on both sides of a cut-off if the interval of a classified value includes
 * that cut-off; otherwise empty.
 */
function bothSides(said: Said, classification: string): readonly Param[] {
  const open = said.all('echo.between').flatMap(({ params }) => params.open);
  return open.find(({ id }) => id === classification)?.categories ?? [];
}

/** Returns the severity grades on both sides of a cut-off; otherwise empty. */
const bothGrades = (said: Said, classification: 'lvef-grade' | 'la-volume-grade') =>
  bothSides(said, classification).flatMap((one): Abnormality | [] =>
    typeof one === 'string' ? (abnormalityOf(one) ?? []) : [],
  );

/** Returns the LVEFs that contradict the headline LVEF; null if there are none. */
function contradicting(said: Said): EfReadings | null {
  const found = said.find('lvef.sources-differ') ?? said.find('lvef.methods-differ');
  return found && { ...found.params, readings: found.params.readings.slice(1) };
}

/** Returns the clauses on the LVEF that is used, with its grade or the reason why it has none. */
function ejection(said: Said): Clause[] {
  const [ef] = said.about(said.find('lvef.variability'));
  if (!ef) {
    const open = said.find('lvef.not-assessed');
    return [{ statement: open && say.conclusion('impression.lvef-open', {}) }];
  }
  const grade = said.find('lvef.grade')?.params.grade ?? null;
  const grades = grade === null ? bothGrades(said, 'lvef-grade') : [grade];
  const limit = said.find('lvef.at-limit')?.params.points ?? null;
  const against = said.find('lvef.methods-disagree');
  const urgent = said.find('lvef.severe') !== null;
  const apart = grade === null ? contradicting(said) : null;
  return [
    {
      statement: say.conclusion('impression.lvef', { grades, limit, urgent, apart }, [ef]),
      covers: ['lvef.dysfunction', 'lvef.severe'],
      states: grades.length > 1 ? ['lvef-grade'] : [],
    },
    { statement: grade === null ? said.find('lvef.method-invalid') : null },
    { statement: rename(against, 'impression.lvef-methods') },
  ];
}

/** Returns a statement on the GLS; null if it is reduced, because the findings then state it. */
function strain(said: Said): Statement | null {
  const found = said.find('lv-strain.reduced') ? null : said.find('lv-strain.band');
  const band = found?.params.band;
  return band ? say.conclusion('impression.strain', { band }, said.about(found)) : null;
}

const leftVentricle: Topic = {
  id: 'left-ventricle',
  sections: ['lv-size', 'lvef', 'lv-strain'],
  say(said) {
    const [size, walls] = [lvSize(said), lvWalls(said)];
    const isRated = size?.code === 'impression.lv-size';
    const abnormal = walls !== null || (isRated && size.params.size !== 'N');
    const covers = abnormal ? (['lv-size.abnormal'] as const) : [];
    const ejected = ejection(said);
    const alone = ejected.every(({ statement }) => statement === null);
    return [
      { statement: size, covers },
      ...ejected,
      { statement: alone ? strain(said) : null },
      { statement: walls, covers },
    ];
  },
};

const wallMotion: Topic = {
  id: 'wall-motion',
  sections: ['wall-motion'],
  say(said) {
    const found = said.find('wall-motion.found');
    const suspected = said.find('wall-motion.suspected');
    const graded = said.find('wall-motion.graded');
    const raised = said.find('wall-motion.raised-index');
    const normal = !found && !suspected && !raised && !said.find('wall-motion.abnormal');
    return [
      {
        statement: rename(found, 'impression.wall-motion'),
        covers: ['wall-motion.found'],
      },
      { statement: said.find('wall-motion.possible') },
      { statement: normal ? rename(graded, 'impression.wall-motion-normal') : null },
      { statement: said.find('wall-motion.discordant-with-ef') },
      {
        statement: raised
          ? null
          : rename(said.find('wall-motion.machine'), 'impression.score-index'),
      },
    ];
  },
};

function diastolicResults(said: Said): Graded[] {
  return said
    .all('diastolic.result')
    .flatMap(({ params: { scheme, result, limited = false, criteria, next } }) => {
      const algorithm = ALGORITHMS[scheme];
      if (!algorithm) return [];
      const last = next && next !== 'no-grade' ? next : { result, limited, criteria };
      return [{ limited: false, ...last, met: signsMet(last.criteria), ...algorithm }];
    });
}

const signsMet = (criteria: DiastolicResult['criteria']) =>
  criteria.flatMap(({ name, met }) => (met ? [name] : []));

/**
 * Returns the separate ASE 2025 result on whether dysfunction is present; null without that result.
 * It is independent of the grade, which depends on the LAP.
 */
const presenceOf = (said: Said): DiastolicResult | null =>
  said
    .all('diastolic.result')
    .map(({ params }) => params)
    .find(({ scheme }) => scheme === '2025-presence') ?? null;

const isPresent = (presence: DiastolicResult | null) =>
  presence !== null && gradeOf(presence)?.result === 'dysfunction';

/**
 * Selects the wording from `FILLING` if all algorithms have a normal result, and lists the values
 * that are beyond a limit nevertheless. With a grade of 2025, "normal diastolic function" is not
 * stated if ASE 2025 finds dysfunction, if a cut-off for it lies within the interval of a value, or
 * if a criterion of any algorithm is met.
 */
function normalFilling(said: Said, results: readonly Graded[]) {
  const presence = presenceOf(said);
  const isOpen = bothSides(said, 'diastolic-2025-presence').length > 0;
  const met = [
    ...new Set([
      ...results.flatMap((one) => one.met),
      ...(presence ? signsMet(presence.criteria) : []),
    ]),
  ];
  const byPressure = results.some(({ year }) => year === 2025);
  if (byPressure && isPresent(presence)) return { state: 'pressure-only', met } as const;
  if (byPressure && (isOpen || met.length > 0)) return { state: 'pressure', met } as const;
  return { state: 'function', met } as const;
}

const NEWEST = { by: 'ASE', year: 2025 } as const;

/** Returns a clause on the grade of 2025 if a cut-off lies within the interval of a value. */
function undecidedGrade(said: Said): Clause[] {
  const between = said
    .all('echo.between')
    .find(({ params }) => params.open.some(({ id }) => id === 'diastolic-2025'));
  if (!between) return [];
  const statement = say.conclusion('impression.diastolic-open', NEWEST, said.about(between));
  return [{ statement, states: ['diastolic-2025'] }];
}

function atrium(said: Said): Clause[] {
  const { grade = null } =
    (said.find('la-volume.enlarged') ?? said.find('la-volume.grade'))?.params ?? {};
  const index = said.value('la-volume-index') ?? said.value('la-volume-index-area-length');
  const contradiction = said.find('la-volume.diameter-disagrees');
  const sides = bothGrades(said, 'la-volume-grade');
  const grades = grade === null ? sides : [grade];
  if (grades.length === 0 || !index) {
    return [{ statement: said.find('la-volume.diameter-grade') }];
  }
  if (grade !== null && contradiction) {
    const params = { grade, byDiameter: contradiction.params.grade };
    return [
      {
        statement: say.conclusion('impression.atrium-diameter', params, contradiction.about),
        covers: ['la-volume.enlarged'],
      },
    ];
  }
  return [
    {
      statement: say.conclusion('impression.atrium', { grades }, [index]),
      covers: ['la-volume.enlarged'],
      states: grade === null ? ['la-volume-grade'] : [],
    },
  ];
}

const diastolicFunction: Topic = {
  id: 'diastolic-function',
  sections: ['diastolic', 'la-volume'],
  say(said) {
    const results = diastolicResults(said);
    const ratio = said.value('e-to-e-prime') ?? said.value('e-to-e-prime-septal');
    const about = [...said.values(['e-to-a']), ...(ratio ? [ratio] : [])];
    const isNormal = results.every(isNormalFilling);
    const graded = isNormal
      ? say.conclusion(
          'impression.diastolic-normal',
          { results, ...normalFilling(said, results) },
          about,
        )
      : say.conclusion('impression.diastolic', { results }, about);
    if (results.length === 0) {
      const ungraded = isPresent(presenceOf(said))
        ? say.conclusion('impression.diastolic-present', NEWEST, about)
        : say.conclusion('impression.diastolic-ungraded', {}, about);
      return [{ statement: about.length > 0 ? ungraded : null }, ...atrium(said)];
    }
    return [
      {
        statement: graded,
        covers: ['diastolic.elevated'],
        // The clause gives only the results of algorithms that reached a result. If it is undecided
        // whether an algorithm finds dysfunction, its section says so, and the impression does not.
        states: ['diastolic-2016-presence', 'diastolic-2025-presence'],
      },
      ...undecidedGrade(said),
      ...atrium(said),
    ];
  },
};

const STENOSIS = ['av-vmax', 'av-mean-gradient', 'av-area'] as const;

const valves: Topic = {
  id: 'valves',
  sections: ['valves'],
  say(said) {
    const aortic = said.find('valves.aortic-stenosis');
    const grade = aortic?.params.grade ?? null;
    const loud = said.evidence('valves.aortic-stenosis').length > 0;
    const shown = said.values(STENOSIS).slice(0, loud ? STENOSIS.length : 1);
    const others = said
      .all('valves.grade')
      .map(({ params }) => ({ statement: say.conclusion('impression.valve', params) }));
    const open = said.find('valves.regurgitation-not-assessed');
    const clauses: Clause[] = [
      {
        statement:
          grade === null
            ? null
            : say.conclusion('impression.valve', { disease: 'aortic-stenosis', grade }, shown),
        covers: ['valves.aortic-stenosis', 'valves.grade'],
      },
      ...others.map((one): Clause => ({ ...one, covers: ['valves.grade'] })),
    ];
    const spoken = clauses.some(({ statement }) => statement !== null);
    const caveat =
      open && spoken ? say.conclusion('impression.regurgitation-open', open.params) : null;
    return [...clauses, { statement: caveat }];
  },
};

function ventricle(said: Said): Clause {
  const found = said.find('rv-function.systolic');
  const { conclusion = null, judged: keys = [], abnormal: abnormalKeys = [] } = found?.params ?? {};
  const judged = said.values(keys);
  const abnormal = new Set<string>(abnormalKeys);
  const [against, agreeing] = [false, true].map((isAbnormal) =>
    judged.filter(({ concept }) => abnormal.has(concept.key) === isAbnormal),
  ) as [Measurement[], Measurement[]];
  // An index can contradict only a reduced function. For any other conclusion, all indices are
  // listed together.
  const count = conclusion === 'reduced' ? agreeing.length : judged.length;
  return {
    statement:
      conclusion &&
      say.conclusion('impression.rv-function', { conclusion, agreeing: count }, [
        ...agreeing,
        ...against,
      ]),
    covers: ['rv-function.systolic'],
  };
}

function pressures(said: Said): Clause {
  const limited = said.find('ph.low-by-velocity') !== null;
  const probability = limited ? 'low' : (said.find('ph.probability')?.params.probability ?? null);
  const shown = said.values(['tr-vmax', 'rvsp']);
  const probabilities = bothSides(said, 'ph-probability').map((one) =>
    typeof one === 'string' ? one : null,
  );
  if (probabilities.length > 0 && shown.length > 0) {
    return {
      statement: say.conclusion('impression.pulmonary-open', { probabilities }, shown),
      covers: ['ph.probability'],
      states: ['ph-probability'],
    };
  }
  const rated =
    probability && say.conclusion('impression.pulmonary', { probability, limited }, shown);
  const alone = shown.length > 0 ? say.conclusion('impression.pressure', {}, shown) : null;
  return { statement: rated || alone, covers: ['ph.probability'] };
}

const rightHeart: Topic = {
  id: 'right-heart',
  sections: ['rv-function', 'pulmonary-hypertension'],
  say: (said) => [ventricle(said), pressures(said)],
};

const pericardium: Topic = {
  id: 'pericardium',
  sections: ['pericardial-effusion'],
  say(said) {
    const found = said.find('effusion.found') ?? said.find('effusion.possible');
    const size = said.find('effusion.size')?.params.grade;
    const none = said.find('effusion.none-outlined');
    const depth = said.values(['effusion-depth']);
    if (found) return [];
    if (size === 'none') {
      return [{ statement: say.conclusion('impression.no-effusion', {}, depth) }];
    }
    return [{ statement: rename(none, 'impression.no-fluid') }];
  },
};

/**
 * Combines a topic's statements about undecided categories into one clause, unless another clause
 * already states the categories. The clause names the values outside their range or, if there are
 * none, all values concerned; the section lists their possible categories.
 */
function undecidedInOneClause(topic: Topic): Topic {
  return {
    ...topic,
    say(said) {
      const clauses = topic.say(said);
      const stated = new Set(clauses.flatMap(({ states = [] }) => states));
      const isStated = ({ id }: { id: string }) => stated.has(id);
      const undecided = said.found(topic.sections, 'echo.between');
      const left = undecided.filter(({ params }) => !params.open.every(isStated));
      const covers = ['echo.between'] as const;
      const spoken = new Set(clauses.flatMap(({ statement }) => statement?.about ?? []));
      // A value that the line already states is not stated again with its possible categories.
      const isRepeated = left.some((one) => said.about(one).some(({ id }) => spoken.has(id)));
      if (left.flatMap(({ params }) => params.open).length < 2 && !isRepeated) {
        const stating = clauses.map(
          (one): Clause =>
            one.states?.length ? { ...one, covers: [...(one.covers ?? []), ...covers] } : one,
        );
        return [...stating, ...left.map((statement) => ({ statement }))];
      }
      const about = [...new Set(left.flatMap((one) => said.about(one)))];
      const outside = about.filter(({ interpretation }) => (interpretation ?? 'N') !== 'N');
      const shown = outside.length > 0 ? outside : about;
      const known = shown.filter(({ id }) => spoken.has(id));
      const statement = say.conclusion('impression.grades-open', { stated: known.length }, [
        ...known,
        ...shown.filter(({ id }) => !spoken.has(id)),
      ]);
      return [...clauses, { statement, covers }];
    },
  };
}

/** Topics of echocardiography in the order of the impression (echo 16). */
export const ECHO_TOPICS: readonly Topic[] = [
  leftVentricle,
  wallMotion,
  diastolicFunction,
  valves,
  rightHeart,
  pericardium,
  { id: 'cardiomyopathy', sections: ['cardiomyopathy'], say: () => [] },
  { id: 'focused', sections: ['focused'], say: () => [] },
].map(undecidedInOneClause);
