import type { EchoConcept } from '../../../concepts/echo.ts';
import type { Measurement } from '../../envelope.ts';
import type { Clause, Said, Topic } from '../../impression.ts';
import { type SentenceTable, type Statement, statementsOf } from '../../statement.ts';
import type { DiastolicResult } from './diastolic.ts';
import { type About, allNamed, anyOf, namedText, valueText, withIntervals } from './shared.ts';
import { type ValveDisease, valveDiseaseName } from './valves.ts';

/** Text for each grade of the LVEF (ASE15). */
const EF_GRADE: Readonly<Record<string, string>> = {
  normal: 'normal',
  'mildly abnormal': 'mildly reduced',
  'moderately abnormal': 'moderately reduced',
  'severely abnormal': 'severely reduced',
  'above normal range': 'above the normal range',
};
const reducedText = (grade: string) => EF_GRADE[grade] ?? grade;

/** Result of one diastolic function algorithm, in its published wording. */
type Graded = { result: string; by: string; year: number };

/**
 * Algorithms that grade diastolic function as a whole. Algorithms that only detect dysfunction
 * appear in the findings but not in the impression.
 */
const ALGORITHMS: Readonly<Record<string, Pick<Graded, 'by' | 'year'>>> = {
  '2016-a': { by: 'ASE/EACVI', year: 2016 },
  '2016-b': { by: 'ASE/EACVI', year: 2016 },
  '2025': { by: 'ASE', year: 2025 },
  '2025-fibrillation': { by: 'ASE, if the rhythm is atrial fibrillation,', year: 2025 },
};

/** Results that count as normal. */
const NORMAL_FILLING: ReadonlySet<string> = new Set([
  'normal diastolic function',
  'normal LAP, no diastolic dysfunction grade',
]);

/** Text for atrial size, by grade of the atrial volume. */
const SIZE_GRADE: Readonly<Record<string, string>> = {
  normal: 'of normal size',
  'mildly abnormal': 'mildly enlarged',
  'moderately abnormal': 'moderately enlarged',
  'severely abnormal': 'severely enlarged',
};
const enlargedText = (grade: string) => SIZE_GRADE[grade] ?? grade;

/** Wording for how the LVEF was measured, by concept or by the machine's method. */
const EF_METHOD: Readonly<Record<string, string>> = {
  'lvef-3d': '3D',
  'lvef-biplane': 'biplane discs',
  'lvef-networks': 'A4C, two networks',
  'lvef-4c': 'A4C discs',
  'lvef-2c': 'A2C discs',
  'lvef-teichholz': 'Teichholz',
  'cart-area-length-biplane': 'biplane area-length',
  'cart-area-length': 'single-plane area-length',
  'cart-cube': 'cube method',
};
const methodOf = ({ concept, method }: Measurement) =>
  EF_METHOD[concept.key] ?? EF_METHOD[method] ?? 'method not stated';

const LV_SIZE = { N: 'of normal size', H: 'dilated', L: 'small', A: 'of abnormal size' } as const;
type LvSize = keyof typeof LV_SIZE;

/** Renders values in brackets, "(TAPSE 21 mm, FAC 45 %)"; empty without values. */
const inBrackets = (values: readonly Measurement[]) =>
  values.length > 0 ? ` (${allNamed(values)})` : '';

const whose = ({ origin }: Measurement) => (origin === 'machine' ? ', ultrasound machine' : '');

const RV_FUNCTION = {
  normal: 'normal RV systolic function',
  reduced: 'reduced RV systolic function',
  borderline: 'borderline RV systolic function with discordant indices',
  'single index normal': 'RV systolic function normal by a single index',
  'single index reduced': 'RV dysfunction possible by a single index',
} as const;

/**
 * Maximum number of segments listed by name in a line. If there are more, only their number is
 * stated.
 */
const NAMED_SEGMENTS = 4;

/** A classification undecided between two categories. */
type Open = { id: string; categories: readonly string[] };

type Scored = { name: string; score: string };
type Region = { kind: string; artery?: string };

function regionText({ kind, artery }: Region): string {
  if (kind === 'global') return 'global hypokinesis';
  const where = artery ? `, within the usual territory of the ${artery}` : '';
  return `regional wall motion abnormality${where}`;
}

export const ECHO_IMPRESSION = {
  /**
   * `about` contains the measurements that agree with the stated size, followed by those that
   * contradict it.
   */
  'impression.lv-size': (
    { size, agreeing }: { size: LvSize; agreeing: number },
    { about }: About,
  ) => {
    const others = about.slice(agreeing);
    const against = others.length > 0 ? `, but not by ${allNamed(others)}` : '';
    return `LV ${LV_SIZE[size]}${inBrackets(about.slice(0, agreeing))}${against}`;
  },
  'impression.lv-size-ungraded': ({ sexUnknown }: { sexUnknown: boolean }, { about }: About) =>
    `LV size not graded${sexUnknown ? ", as the patient's sex is unknown" : ''}${inBrackets(about)}`,
  'impression.lv-geometry': ({ geometry }: { geometry: string }, { about }: About) =>
    `${geometry}${inBrackets(about)}`,
  'impression.lv-walls': (_: Record<string, never>, { about }: About) =>
    `thickened ${about.length > 1 ? 'walls' : 'wall'}${inBrackets(about)}`,
  'impression.grades-open': (_: Record<string, never>, { about }: About) =>
    `grade uncertain, as a cut-off lies within the interval of ${withIntervals(about)}`,
  /**
   * `grades` contains the grade, or the grades on both sides if the interval includes a cut-off, or
   * nothing. `limit` is the number of points to the nearest limit of the grade if the value is
   * close to it; otherwise null.
   */
  'impression.lvef': (
    { grades, limit, urgent }: { grades: readonly string[]; limit: number | null; urgent: boolean },
    { about: [ef] }: About,
  ) => {
    if (!ef) return '';
    const near = limit === null ? '' : `, within ${limit} points of a grade limit`;
    const since = urgent ? '; whether this is new is unknown' : '';
    const category = grades.length > 0 ? anyOf(grades.map(reducedText)) : 'not graded';
    const margin =
      grades.length > 1 && ef.uncertainty !== null
        ? ` (± ${valueText('lvef', ef.uncertainty)})`
        : '';
    return `LVEF ${valueText('lvef', ef.value)}${margin} (${methodOf(ef)}${whose(ef)}), ${category}${near}${since}`;
  },
  'impression.lvef-open': () => 'LVEF not reported, as its values were withheld',
  /** `about` contains the LVEF that is used, followed by the LVEF by other methods. */
  'impression.lvef-methods': (
    { grades }: { grades: readonly string[] },
    { about: [, ...others] }: About,
  ) => {
    const each = others.map((one, i) => `${namedText(one)} (${reducedText(grades[i] ?? '')})`);
    return `the methods disagree on the category: ${each.join(', ')} not used`;
  },
  'impression.wall-motion-normal': ({ scored, of }: { scored: number; of: number }) =>
    `no wall motion abnormality in ${scored} of ${of} segments (a mild one may be missed)`,
  'impression.wall-motion': ({
    segments,
    region,
  }: {
    segments: readonly Scored[];
    region: Region;
  }) => {
    const named = segments.map(({ name, score }) => `${name} ${score}`).join(', ');
    const list = segments.length > NAMED_SEGMENTS ? `${segments.length} segments` : named;
    return `${regionText(region)} (${list})`;
  },
  'impression.score-index': ({ raised }: { raised: boolean }, { about: [index] }: About) =>
    `${index ? namedText(index) : ''} from the machine, ${raised ? 'raised' : 'normal'}`,
  'impression.diastolic': ({ results }: { results: readonly Graded[] }, { about }: About) => {
    const each = results.map(({ result, by, year }) => `${result} (${by} ${year})`);
    return `diastolic function: ${[...each, ...about.map(namedText)].join(', ')}`;
  },
  'impression.diastolic-normal': (
    { results }: { results: readonly Graded[] },
    { about }: About,
  ) => {
    const each = results.map(({ by, year }) => `${by} ${year}`);
    return `normal diastolic function by ${each.join(' and ')}${inBrackets(about)}`;
  },
  'impression.atrium': ({ grade }: { grade: string }, { about }: About) =>
    `LA ${enlargedText(grade)}${inBrackets(about)}`,
  /** `about` contains the diameter, followed by the volume index. */
  'impression.atrium-diameter': (
    { grade, byDiameter }: { grade: string; byDiameter: string },
    { about: [diameter, index] }: About,
  ) =>
    diameter && index
      ? `LA ${enlargedText(grade)} by ${namedText(index)}, used in preference to ${namedText(diameter)} (${byDiameter})`
      : '',
  'impression.valve': (
    { disease, grade }: { disease: ValveDisease | 'aortic-stenosis'; grade: string },
    { about }: About,
  ) => {
    const name = disease === 'aortic-stenosis' ? 'Aortic valve' : valveDiseaseName(disease);
    return `${name}: ${grade}${inBrackets(about)}`;
  },
  'impression.regurgitation-open': () => 'regurgitation not assessed',
  /** `about` contains the indices that agree with the conclusion, followed by the others. */
  'impression.rv-function': (
    { conclusion, agreeing }: { conclusion: keyof typeof RV_FUNCTION; agreeing: number },
    { about }: About,
  ) => {
    const others = about.slice(agreeing);
    const against = others.length > 0 ? `, but not by ${allNamed(others)}` : '';
    return `${RV_FUNCTION[conclusion]}${inBrackets(about.slice(0, agreeing))}${against}`;
  },
  'impression.pulmonary': (
    { probability, limited }: { probability: string; limited: boolean },
    { about }: About,
  ) =>
    `${probability} probability of pulmonary hypertension${limited ? ' by TRV alone' : ''}${inBrackets(about)}`,
  'impression.pressure': (_: Record<string, never>, { about }: About) => allNamed(about),
  'impression.no-fluid': ({ views }: { views: readonly string[] }) =>
    `no pericardial fluid outlined in ${anyOf([...new Set(views)])}, which does not exclude an effusion`,
  'impression.no-effusion': (_: Record<string, never>, { about }: About) =>
    `no pericardial effusion${inBrackets(about)}`,
} as const satisfies SentenceTable;

const say = statementsOf<typeof ECHO_IMPRESSION>();

/** Returns a parameter that is a list of concept keys; empty if it is missing or has another type. */
function keysOf(statement: Statement | null, name: string): string[] {
  const value = statement?.params[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

const paramOf = (statement: Statement | null, name: string): string | null => {
  const value = statement?.params[name];
  return typeof value === 'string' ? value : null;
};

/** Returns the statement with another code, whose sentence is worded for the impression. */
const rename = (
  statement: Statement | null,
  code: keyof typeof ECHO_IMPRESSION,
): Statement | null => statement && { ...statement, code };

/** Measures of LV size. The volume index is preferred (ASE15). */
const LV_SIZES = ['lvedv-index', 'lvidd'] as const satisfies readonly EchoConcept[];
const WALLS = ['ivsd', 'lvpwd'] as const satisfies readonly EchoConcept[];

/** Returns the statement on LV size, from the first available measure. */
function lvSize(said: Said): Statement | null {
  const rated = said.values(LV_SIZES).filter(({ interpretation }) => interpretation !== null);
  const size = rated[0]?.interpretation;
  if (!size) {
    // No range applies, for example because the sex is unknown.
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
  const geometry = paramOf(said.find('lv-size.geometry'), 'geometry');
  if (geometry !== null && geometry !== 'normal geometry') {
    const values = said.values(['lv-mass-index', 'relative-wall-thickness']);
    return say.conclusion('impression.lv-geometry', { geometry }, values);
  }
  const thick = said.values(WALLS).filter(({ interpretation }) => interpretation === 'H');
  return thick.length > 0 ? say.conclusion('impression.lv-walls', {}, thick) : null;
}

/**
 * Returns the categories on both sides of the cut-off if the interval of a classified value
 * includes one; otherwise empty.
 */
function bothSides(said: Said, classification: string): readonly string[] {
  const open = said.all('echo.between').flatMap(({ params }) => params.open as readonly Open[]);
  return open.find(({ id }) => id === classification)?.categories ?? [];
}

/** Returns the clauses on the LVEF that is used, with its grade or the reason why it has none. */
function ejection(said: Said): Clause[] {
  const [ef] = said.about(said.find('lvef.variability'));
  if (!ef) {
    const open = said.find('lvef.not-assessed');
    return [{ statement: open && say.conclusion('impression.lvef-open', {}) }];
  }
  const grade = paramOf(said.find('lvef.grade'), 'grade');
  const grades = grade === null ? bothSides(said, 'lvef-grade') : [grade];
  const near = said.find('lvef.at-limit')?.params.points;
  const against = said.find('lvef.methods-disagree');
  const urgent = said.find('lvef.severe') !== null;
  const contradictions = ['lvef.sources-differ', 'lvef.methods-differ', 'lvef.method-invalid'];
  return [
    {
      statement: say.conclusion(
        'impression.lvef',
        { grades, limit: typeof near === 'number' ? near : null, urgent },
        [ef],
      ),
      covers: ['lvef.dysfunction', 'lvef.severe'],
    },
    ...contradictions.map((code) => ({ statement: grade === null ? said.find(code) : null })),
    { statement: rename(against, 'impression.lvef-methods') },
  ];
}

const leftVentricle: Topic = {
  id: 'left-ventricle',
  sections: ['lv-size', 'lvef', 'lv-strain'],
  say(said) {
    const [size, walls] = [lvSize(said), lvWalls(said)];
    const isRated = size?.code === 'impression.lv-size';
    const abnormal = walls !== null || (isRated && size.params.size !== 'N');
    const covers = abnormal ? ['lv-size.abnormal'] : [];
    return [{ statement: size, covers }, ...ejection(said), { statement: walls, covers }];
  },
};

const wallMotion: Topic = {
  id: 'wall-motion',
  sections: ['wall-motion'],
  say(said) {
    const found = said.find('wall-motion.found');
    const suspected = said.find('wall-motion.suspected');
    const graded = said.find('wall-motion.graded');
    const normal = !found && !suspected && said.find('wall-motion.abnormal') === null;
    return [
      {
        statement: rename(found, 'impression.wall-motion'),
        covers: ['wall-motion.found'],
      },
      { statement: said.find('wall-motion.possible') },
      { statement: normal ? rename(graded, 'impression.wall-motion-normal') : null },
      { statement: said.find('wall-motion.discordant-with-ef') },
      {
        statement: said.find('wall-motion.raised-index')
          ? null
          : rename(said.find('wall-motion.machine'), 'impression.score-index'),
      },
    ];
  },
};

/** Returns the results of the algorithms, without their criteria. */
function diastolicResults(said: Said): Graded[] {
  return said.all('diastolic.result').flatMap(({ params }) => {
    const { scheme, result, next } = params as unknown as DiastolicResult;
    const algorithm = ALGORITHMS[scheme];
    if (!algorithm) return [];
    return [{ result: next && next !== 'no-grade' ? next.result : result, ...algorithm }];
  });
}

function atrium(said: Said): Clause[] {
  const grade =
    paramOf(said.find('la-volume.enlarged'), 'grade') ??
    paramOf(said.find('la-volume.grade'), 'grade');
  const index = said.value('la-volume-index') ?? said.value('la-volume-index-area-length');
  const contradiction = said.find('la-volume.diameter-disagrees');
  if (grade === null || !index) return [{ statement: said.find('la-volume.diameter-grade') }];
  const byDiameter = paramOf(contradiction, 'grade');
  if (contradiction && byDiameter !== null) {
    const params = { grade, byDiameter };
    return [
      {
        statement: say.conclusion('impression.atrium-diameter', params, contradiction.about),
        covers: ['la-volume.enlarged'],
      },
    ];
  }
  return [
    {
      statement: say.conclusion('impression.atrium', { grade }, [index]),
      covers: ['la-volume.enlarged'],
    },
  ];
}

const diastolicFunction: Topic = {
  id: 'diastolic-function',
  sections: ['diastolic', 'la-volume'],
  say(said) {
    const results = diastolicResults(said);
    const ratio = said.value('e-to-e-prime') ?? said.value('e-to-e-prime-septal');
    const normal = results.every(({ result }) => NORMAL_FILLING.has(result));
    const code = normal ? 'impression.diastolic-normal' : 'impression.diastolic';
    const graded = say.conclusion(code, { results }, ratio ? [ratio] : []);
    return [
      { statement: results.length > 0 ? graded : null, covers: ['diastolic.elevated'] },
      ...atrium(said),
    ];
  },
};

/** Values that reflect the severity of an aortic stenosis. */
const STENOSIS = ['av-vmax', 'av-mean-gradient', 'av-area'] as const;

const valves: Topic = {
  id: 'valves',
  sections: ['valves'],
  say(said) {
    const aortic = said.find('valves.aortic-stenosis');
    const grade = paramOf(aortic, 'grade');
    const loud = said.evidence('valves.aortic-stenosis').length > 0;
    const shown = said.values(STENOSIS).slice(0, loud ? STENOSIS.length : 1);
    const others = said.all('valves.grade').map(({ params }) => {
      const { disease, grade: severity } = params as { disease: ValveDisease; grade: string };
      return { statement: say.conclusion('impression.valve', { disease, grade: severity }) };
    });
    const open = said.find('valves.regurgitation-not-assessed');
    const clauses: Clause[] = [
      {
        statement:
          grade === null
            ? null
            : say.conclusion('impression.valve', { disease: 'aortic-stenosis', grade }, shown),
        covers: ['valves.aortic-stenosis', 'valves.grade'],
      },
      ...others.map((one) => ({ ...one, covers: ['valves.grade'] })),
    ];
    const spoken = clauses.some(({ statement }) => statement !== null);
    const caveat = open && spoken ? say.conclusion('impression.regurgitation-open', {}) : null;
    return [...clauses, { statement: caveat }];
  },
};

function ventricle(said: Said): Clause {
  const found = said.find('rv-function.systolic');
  const conclusion = paramOf(found, 'conclusion') as keyof typeof RV_FUNCTION | null;
  const judged = said.values(keysOf(found, 'judged'));
  const abnormal = new Set(keysOf(found, 'abnormal'));
  const [against, agreeing] = [false, true].map((isAbnormal) =>
    judged.filter(({ concept }) => abnormal.has(concept.key) === isAbnormal),
  ) as [Measurement[], Measurement[]];
  // Only a reduced function can be contradicted by an index; a borderline one names all of them.
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
  const probability = limited ? 'low' : paramOf(said.find('ph.probability'), 'probability');
  const shown = said.values(['tr-vmax', 'rvsp']);
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
    const found = ['effusion.found', 'effusion.possible'].some((code) => said.find(code));
    const size = paramOf(said.find('effusion.size'), 'grade');
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
 * Combines a topic's findings that are undecided at a cut-off into one clause, with the values
 * outside their range. The possible categories of each value are listed in the section.
 */
function undecidedInOneClause(topic: Topic): Topic {
  return {
    ...topic,
    say(said) {
      const clauses = topic.say(said);
      const between = said.result.findings
        .filter(({ section }) => topic.sections.includes(section))
        .flatMap(({ statement, statements = [] }) => (statement ? [statement] : statements))
        .filter(({ code }) => code === 'echo.between');
      const open = between.flatMap(({ params }) => params.open as readonly Open[]);
      if (open.length < 2) return clauses;
      const about = [...new Set(between.flatMap((one) => said.about(one)))];
      const outside = about.filter(({ interpretation }) => (interpretation ?? 'N') !== 'N');
      const statement = say.conclusion(
        'impression.grades-open',
        {},
        outside.length > 0 ? outside : about,
      );
      return [...clauses, { statement, covers: ['echo.between'] }];
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
