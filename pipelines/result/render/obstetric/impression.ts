import type { Measurement, Result } from '../../envelope.ts';
import type * as impression from '../../impression.ts';
import { fetusPlace } from '../../measured.ts';
import { type SentenceTable, type Statement, statementsOf } from '../../statement.ts';
import {
  type FLUID_SENTENCES,
  FLUID_TEXT,
  type FluidCategory,
  fluidBetween,
} from './amniotic-fluid.ts';
import type { SCREEN_SENTENCES } from './anomaly-screen.ts';
import type { BIOMETRY_SENTENCES } from './biometry.ts';
import type { CERVIX_SENTENCES } from './cervix.ts';
import type { DOPPLER_SENTENCES } from './doppler.ts';
import type { EARLY_SENTENCES } from './early-pregnancy.ts';
import type { HEART_SENTENCES } from './fetal-heart.ts';
import {
  AGE_BY as AGE_BY_LENGTHS,
  charted,
  dopplerNeeded,
  type GROWTH_SENTENCES,
  type Lacking,
  type OpenSize,
  openSizeText,
  type SizeCategory,
  signed,
} from './growth.ts';
import type { LABOR_SENTENCES } from './labor-progress.ts';
import type { NT_SENTENCES } from './nt.ts';
import { fromOs, type PLACENTA_SENTENCES, type PlacentalSide } from './placenta.ts';
import type { PRESENTATION_SENTENCES, Presentation } from './presentation.ts';
import { allOf, DATING_BASIS, type SentenceContext, whose } from './shared.ts';

/** Sentences of the sections from which the impression is made. */
type Sentences = typeof BIOMETRY_SENTENCES &
  typeof CERVIX_SENTENCES &
  typeof DOPPLER_SENTENCES &
  typeof EARLY_SENTENCES &
  typeof FLUID_SENTENCES &
  typeof GROWTH_SENTENCES &
  typeof HEART_SENTENCES &
  typeof LABOR_SENTENCES &
  typeof NT_SENTENCES &
  typeof PLACENTA_SENTENCES &
  typeof PRESENTATION_SENTENCES &
  typeof SCREEN_SENTENCES;
type Clause = impression.Clause<Sentences>;
type Said = impression.Said<Sentences>;
type Topic = impression.Topic<Sentences>;

const SIZE: Readonly<Record<SizeCategory, string>> = {
  'sga-severe': 'severely small for gestational age',
  sga: 'small for gestational age',
  aga: 'appropriate size for gestational age',
  lga: 'large for gestational age',
  'lga-severe': 'very large for gestational age',
};

/** Wordings of the forms of growth restriction other than `sga-doppler-needed`. */
const RESTRICTION = {
  'early-fgr': 'meets the consensus definition of early fetal growth restriction',
  'late-fgr': 'meets the consensus definition of late fetal growth restriction',
  'sga-not-fgr': 'no Doppler criterion for growth restriction is met',
} as const;

const IF_DATED = ', if the dating is correct';

const AGE_BY = {
  ...AGE_BY_LENGTHS,
  crl: 'CRL',
  machine: 'the ultrasound machine',
} as const;

export const OBSTETRIC_IMPRESSION = {
  'impression.presentation': ({ presentation }: { presentation: Presentation }) =>
    `${presentation} presentation`,
  'impression.heart': (_: Record<string, never>, { about: [rate], text }: SentenceContext) =>
    `cardiac activity seen${rate ? `, ${text.value(rate)}${whose(rate)}` : ''}`,
  'impression.rate': (_: Record<string, never>, { about: [rate], text }: SentenceContext) =>
    `fetal heart rate ${rate ? text.value(rate) : ''}${rate ? whose(rate) : ''}`,
  'impression.dated': (
    { days, basis }: { days: number; basis: string | null },
    { text }: SentenceContext,
  ) => `${text.weeks(days)} weeks${basis === null ? '' : ` by ${text.basis(basis)}`}`,
  'impression.no-age': () => 'gestational age not given, so size for age cannot be assessed',
  'impression.age-doubt': (
    { by, days, apart }: { by: keyof typeof AGE_BY; days: number; apart: number },
    { text }: SentenceContext,
  ) =>
    `dating in doubt: age by ${AGE_BY[by]} ${text.weeks(days)} weeks, ${apart} days from the age given`,
  'impression.size': (
    { category, datingInDoubt }: { category: SizeCategory; datingInDoubt: boolean },
    context: SentenceContext,
  ) => `${SIZE[category]}: ${charted(context)}${datingInDoubt ? IF_DATED : ''}`,
  'impression.size-open': (size: OpenSize, context: SentenceContext) =>
    `${charted(context)}: ${openSizeText(size)}; measure by hand`,
  'impression.lengths': (_: Record<string, never>, context: SentenceContext) => charted(context),
  'impression.several': () =>
    'several fetuses that the images do not distinguish, so size for age cannot be assessed',
  /**
   * `sizeIsOpen` or `fallIsOpen` is true if the interval of a size, or of the fall since an earlier
   * scan, includes a cut-off of the definition.
   */
  'impression.restriction': ({
    form,
    doppler,
    datingInDoubt,
    sizeIsOpen,
    fallIsOpen,
  }: {
    form: keyof typeof RESTRICTION | 'sga-doppler-needed';
    doppler?: Lacking;
    datingInDoubt: boolean;
    sizeIsOpen: boolean;
    fallIsOpen?: boolean;
  }) => {
    const said =
      form === 'sga-doppler-needed' ? dopplerNeeded('Doppler', doppler) : RESTRICTION[form];
    const asMeasured = sizeIsOpen ? 'with the values as measured, ' : '';
    const fall = fallIsOpen ? ', but a fall by more than two quartiles is undetermined' : '';
    return `${asMeasured}${said}${fall}${datingInDoubt ? IF_DATED : ''}`;
  },
  'impression.if-dated': () => 'all of this only if the dating is correct',
  'impression.change': (
    of: { key: string; zPerWeek: number; centileThen: number; daysBefore: number },
    { text }: SentenceContext,
  ) =>
    `${text.names([of.key])} z-score ${signed(of.zPerWeek)} per week since the scan ${of.daysBefore} days earlier (then centile ${text.centile(of.centileThen)})`,
  'impression.fluid': (
    { category }: { category: FluidCategory | null },
    { about: [value], text }: SentenceContext,
  ) => {
    const shown = value
      ? `${text.names([value.concept.key])} ${text.value(value)}${whose(value)}`
      : '';
    return category === null ? shown : `${FLUID_TEXT[category]} (${shown})`;
  },
  'impression.fluid-open': (
    { between: [low, high] }: { between: readonly FluidCategory[] },
    { about: [value], text }: SentenceContext,
  ) =>
    value && low && high
      ? `${text.names([value.concept.key])} ${text.value(value)}${whose(value)} is at the cut-off: ${fluidBetween(low, high)}; measure by hand`
      : '',
  'impression.placenta': ({ sides }: { sides: readonly PlacentalSide[] }) =>
    `placenta ${allOf(sides.map((side) => side.replaceAll('-', ' ')))}`,
  'impression.placental-edge': (
    _: Record<string, never>,
    { about: [edge], text }: SentenceContext,
  ) => `lower placental edge ${edge ? fromOs([edge], text) : ''}`,
  'impression.cervix': (_: Record<string, never>, { about: [length], text }: SentenceContext) =>
    `cervical length ${length ? text.value(length) : ''}`,
  'impression.screen': ({ found, expected }: { found: number; expected: number }) =>
    `anatomy: planes found for ${found} of ${expected} checklist items, normality not assessed`,
  'impression.doppler': ({ forward }: { forward: boolean }, context: SentenceContext) =>
    `Doppler: ${[charted(context), forward ? 'forward umbilical end-diastolic flow' : ''].filter(Boolean).join(', ')}`,
  'impression.doppler-open': (_: Record<string, never>, context: SentenceContext) =>
    `${charted(context)} undetermined, as a cut-off lies within the interval`,
} as const satisfies SentenceTable;

const say = statementsOf<typeof OBSTETRIC_IMPRESSION>();

/** Returns the statement with another code, whose sentence is worded for the impression. */
const rename = (
  statement: Statement | null,
  code: keyof typeof OBSTETRIC_IMPRESSION,
): Statement | null => statement && { ...statement, code };

/** Returns the gestational age from the request; null if unknown. */
export function datingOf(result: Pick<Result, 'sections'>): {
  days: number;
  basis: (typeof DATING_BASIS)[number] | null;
} | null {
  const dating = result.sections.find(({ id }) => id === 'growth')?.data.dating;
  const stated = typeof dating === 'object' && dating !== null ? dating : {};
  const days = 'ga_days' in stated ? stated.ga_days : null;
  const basis = 'basis' in stated ? DATING_BASIS.find((one) => one === stated.basis) : undefined;
  return typeof days === 'number' ? { days, basis: basis ?? null } : null;
}

/**
 * Returns the statement about the presentation; null if it is not relevant at this age, or if a
 * finding already states it.
 */
function presentation(said: Said): Statement | null {
  const found = said.find('presentation.presentation');
  const isSaid = said.find('presentation.breech') !== null;
  return found === null || isSaid || found.params.weight === 'too-early'
    ? null
    : say.conclusion('impression.presentation', { presentation: found.params.presentation });
}

/**
 * Returns the heart rate, for each fetus if there are several. A rate outside its range is stated as
 * a finding.
 */
function heart(said: Said): (Statement | null)[] {
  const rates = said.all('heart.rate');
  if (rates.some(({ fetus }) => fetus !== null)) {
    const found = new Set(said.all('heart.band').map(({ fetus }) => fetus));
    return rates
      .filter(({ fetus }) => !found.has(fetus))
      .map((one) => say.conclusion('impression.rate', {}, one.about, one.fetus));
  }
  const rate = said.value('fetal-heart-rate');
  const isSaid =
    said.find('heart.band') ?? said.find('early.found') ?? said.find('early.viability');
  if (isSaid || !rate) return [];
  return said.find('cardiac.seen')
    ? [say.conclusion('impression.heart', {}, [rate])]
    : [say.conclusion('impression.rate', {}, [rate])];
}

const viability: Topic = {
  id: 'viability',
  sections: ['presentation', 'early-pregnancy', 'fetal-heart'],
  say: (said) => [
    { statement: said.find('early.viability') ? null : said.find('early.found') },
    { statement: presentation(said) },
    ...heart(said).map((statement) => ({ statement })),
  ],
};

/** Returns the clauses that call the age in the request into question. */
function doubt(said: Said): Clause[] {
  const doubted = (by: keyof typeof AGE_BY, days: number, stated: number) =>
    say.conclusion('impression.age-doubt', {
      by,
      days,
      apart: Math.round(Math.abs(days - stated)),
    });
  const biometry = said.find('growth.age-by-biometry')?.params;
  const machine = said.find('growth.age-stated-by-machine')?.params;
  const byCrl = said.find('early.age-by-crl');
  const [age] = said.about(byCrl);
  return [
    {
      statement: byCrl && age ? doubted('crl', Math.round(age.value), byCrl.params.stated) : null,
    },
    {
      statement: biometry ? doubted(biometry.by, biometry.days, biometry.stated) : null,
      covers: ['growth.age-by-biometry'],
    },
    {
      statement: machine ? doubted('machine', machine.machine, machine.stated) : null,
      covers: ['growth.age-stated-by-machine'],
    },
  ];
}

const dating: Topic = {
  id: 'dating',
  sections: [],
  codes: ['growth.age-by-biometry', 'growth.age-stated-by-machine'],
  onlyBeside: true,
  sharesLine: true,
  say(said) {
    const stated = datingOf(said.result);
    const open = said.result.sections.some(
      ({ id, statements }) =>
        id === 'growth' && statements?.some(({ code }) => code === 'growth.no-age'),
    );
    return [
      { statement: stated && say.conclusion('impression.dated', stated) },
      { statement: open ? say.conclusion('impression.no-age', {}) : null },
      ...doubt(said),
    ];
  },
};

/** Values that represent the size of a fetus, in order of preference. */
const LENGTHS = ['efw', 'hc', 'ac', 'fl', 'bpd'] as const;
const SHOWN_LENGTHS = 3;

/** Removes the AC from a statement on the size if a finding of the same line already gives it. */
function withoutSmallAbdomen(said: Said, statement: Statement | null): Statement | null {
  const own = said.find('growth.small-abdomen')?.about ?? [];
  return statement && { ...statement, about: statement.about.filter((id) => !own.includes(id)) };
}

function size(said: Said): Clause[] {
  const judged = withoutSmallAbdomen(said, said.find('growth.size'));
  if (judged) return [{ statement: rename(judged, 'impression.size'), covers: ['growth.size'] }];
  const open = withoutSmallAbdomen(said, said.find('growth.at-cut-off'));
  if (open) return [{ statement: rename(open, 'impression.size-open') }];
  if (said.find('biometry.apart')) return [{ statement: say.conclusion('impression.several', {}) }];
  // The weights of twins have a separate clause, which names the fetuses.
  if (said.find('growth.twins')) return [];
  const lengths = (of: readonly Measurement[], fetus: string | null) =>
    of.length === 0
      ? []
      : [
          {
            statement: say.conclusion('impression.lengths', {}, of.slice(0, SHOWN_LENGTHS), fetus),
          },
        ];
  const all = LENGTHS.flatMap((key) => said.allValues(key));
  const byFetus = Map.groupBy(all, ({ fetus }) => fetus);
  // Machines label even a single fetus, but then always as the first.
  const names = [...byFetus.keys()].filter((fetus) => fetus !== null);
  const several = names.length > 1 || names.some((fetus) => fetusPlace(fetus) !== 1);
  return several
    ? [...byFetus].flatMap(([fetus, own]) => lengths(own, fetus))
    : lengths(said.values(LENGTHS), null);
}

/**
 * Returns the statement on growth since the earlier scan: the change in weight if there is one,
 * otherwise the first change that is listed.
 */
function change(said: Said): Statement | null {
  const found = said.find('growth.change')?.params;
  if (!found) return null;
  const of = found.values.find(({ key }) => key === 'efw') ?? found.values[0];
  return of ? say.conclusion('impression.change', { ...of, daysBefore: found.daysBefore }) : null;
}

/**
 * If several statements of the line are valid only if the dating is correct, this condition is
 * stated once for all of them.
 */
function datedOnce(statements: readonly Statement[]): Statement[] {
  const inDoubt = statements.filter((one) => one.params.datingInDoubt === true);
  if (inDoubt.length < 2) return [...statements];
  const plain = inDoubt.map((one) => ({ ...one, params: { ...one.params, datingInDoubt: false } }));
  const others = statements.filter((one) => !inDoubt.includes(one));
  return [...plain, say.conclusion('impression.if-dated', {}), ...others];
}

const growth: Topic = {
  id: 'size',
  conditionOnce: datedOnce,
  sections: ['biometry', 'growth'],
  say(said) {
    const restriction = said.find('growth.restriction');
    return [
      ...size(said),
      {
        statement: restriction && {
          ...say.conclusion('impression.restriction', restriction.params),
          fetus: restriction.fetus,
        },
        covers: ['growth.restriction'],
      },
      { statement: said.find('growth.twins') },
      { statement: change(said) },
    ];
  },
};

/**
 * Returns the clauses on the amount of fluid: the values that determined it, and every value whose
 * interval includes a cut-off.
 */
function fluid(said: Said): Clause[] {
  const abnormal = said.all('fluid.abnormal');
  const open = said.all('fluid.at-cut-off').map(
    (one): Clause => ({
      statement: rename(one, 'impression.fluid-open'),
      covers: ['fluid.at-cut-off'],
    }),
  );
  if (abnormal.length > 0) {
    const found = abnormal.map(
      (one): Clause => ({ statement: rename(one, 'impression.fluid'), covers: ['fluid.abnormal'] }),
    );
    return [...found, ...open];
  }
  const amount = said.find('fluid.amount');
  const [value] = said.about(amount);
  const [category = null] = amount?.params.categories ?? [];
  if (!value) return open;
  const statement = say.conclusion('impression.fluid', { category }, [value]);
  return [{ statement }, ...open];
}

function placenta(said: Said): Clause[] {
  const low = said.find('placenta.low');
  const edge = said.find('placenta.edge');
  return [
    { statement: rename(said.find('placenta.location'), 'impression.placenta') },
    { statement: low ? null : rename(edge, 'impression.placental-edge') },
  ];
}

function cervix(said: Said): Statement | null {
  const found = said.find('cervix.length');
  const isSaid = said.find('cervix.short') !== null;
  return isSaid || !found?.params.category ? null : rename(found, 'impression.cervix');
}

const surroundings: Topic = {
  id: 'fluid-and-placenta',
  sections: ['amniotic-fluid', 'placenta', 'cervix'],
  say: (said) => [...fluid(said), ...placenta(said), { statement: cervix(said) }],
};

const anomalies: Topic = {
  id: 'anomalies',
  sections: ['anomaly-screen', 'nt', 'planes'],
  codes: ['heart.abnormal-axis', 'heart.abnormal-size'],
  say(said) {
    const increased = said.find('nt.increased') !== null;
    return [
      { statement: increased ? null : said.find('nt.value') },
      ...(increased ? [] : said.all('nt.category')).map((statement) => ({ statement })),
      { statement: rename(said.find('screen.found'), 'impression.screen') },
    ];
  },
};

/** Indices that represent the Doppler values of a study, if they have a centile. */
const INDICES = [
  'umbilical-artery-pi',
  'cerebroplacental-ratio',
  'uterine-artery-mean-pi',
] as const;

type FlowSaid = ReturnType<typeof flowsOf>[number];
const flowsOf = (said: Said) => said.all('doppler.flow');

/**
 * Returns the clauses on the indices and the flow of one fetus; `fetus` is null if there is only
 * one.
 */
function dopplerOf(
  indices: readonly Measurement[],
  flow: FlowSaid | null,
  fetus: string | null,
): Clause[] {
  const shown = indices.filter(({ interpretation }) => interpretation === 'N');
  const open = indices.filter(({ interpretation }) => interpretation === null);
  const forward = flow?.params.flow === 'forward';
  const anything = shown.length > 0 || forward;
  return [
    {
      statement: anything ? say.conclusion('impression.doppler', { forward }, shown, fetus) : null,
    },
    {
      statement:
        open.length > 0 ? say.conclusion('impression.doppler-open', {}, open, fetus) : null,
    },
  ];
}

const doppler: Topic = {
  id: 'doppler',
  sections: ['doppler'],
  say(said) {
    const isCharted = ({ reference }: Measurement) => reference?.centile != null;
    const flows = flowsOf(said);
    const apart = said.find('doppler.several-fetuses') ?? said.find('doppler.partly-named');
    if (!apart) return dopplerOf(said.values(INDICES).filter(isCharted), flows[0] ?? null, null);
    const indices = INDICES.flatMap((key) => said.allValues(key)).filter(isCharted);
    const fetuses = new Set([...indices, ...flows].map(({ fetus }) => fetus));
    return [...fetuses].flatMap((fetus) =>
      dopplerOf(
        indices.filter((one) => one.fetus === fetus),
        // Flow of an unknown fetus is not mentioned unless it is a finding.
        fetus === null ? null : (flows.find((one) => one.fetus === fetus) ?? null),
        fetus,
      ),
    );
  },
};

/** Topics of obstetric ultrasound in the order of the impression (obstetric 14). */
export const OBSTETRIC_TOPICS: readonly Topic[] = [
  viability,
  dating,
  growth,
  surroundings,
  anomalies,
  doppler,
  {
    id: 'labor',
    sections: ['labor-progress'],
    say: (said) => [{ statement: said.find('labor.values') }],
  },
];
