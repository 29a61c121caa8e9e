import { conceptEntry, STATED_AGE } from '../../concepts/concepts.ts';
import type { Subject } from '../../dicom/subject.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { dueDate } from '../../result/estimated-due-date.ts';
import { conclusionTexts } from '../../result/render/conclusion.ts';
import {
  accepted,
  noMeasurementStatement,
  notAcceptedStatement,
  noticeOf,
  ownSections,
  remarks,
  researchNotice,
  sectionStatement,
} from '../../result/render/statement.ts';
import { countingFirst, countingValues } from '../../result/standing.ts';
import {
  type Code,
  type ContentItem,
  code,
  container,
  date,
  num,
  root,
  text,
} from './content-item.ts';
import { encode } from './encode.ts';
import {
  fetusesNamed,
  fetusItems,
  languageItem,
  numberOfFetuses,
  observerItems,
  srHeader,
} from './header.ts';
import {
  chartText,
  conceptOf,
  DAYS,
  equationItems,
  measurementItem,
  PERCENT,
  sourcesOf,
} from './measured-value.ts';
import { imageLibrary } from './references.ts';
import { SR } from './vocabulary.ts';

const groupOf = ({ concept }: Measurement) => conceptEntry(concept.key)?.group;
const siteOf = ({ concept }: Measurement) => conceptEntry(concept.key)?.site ?? null;

function items(
  measurements: readonly Measurement[],
  subject: Subject,
  withCentile = true,
): ContentItem[] {
  return measurements.map((one) =>
    measurementItem(one, { withCentile, sources: sourcesOf(one, subject) }),
  );
}

/**
 * Builds a Findings section for one site. TID 5000 uses it for sections without a specific title.
 */
function findings(
  site: Code,
  contents: readonly ContentItem[],
  { about = [], template }: { about?: readonly ContentItem[]; template?: string } = {},
): ContentItem[] {
  if (contents.length === 0) return [];
  const where = code('HAS CONCEPT MOD', SR.findingSite, site);
  return [container(SR.findings, [...about, where, ...contents], template)];
}

/**
 * Builds the amniotic sac section with the amniotic fluid index and the fluid pockets (TID 5010);
 * `about` identifies the fetus where that is needed.
 */
function amnioticSacSection(
  measurements: readonly Measurement[],
  subject: Subject,
  about: readonly ContentItem[],
): ContentItem[] {
  const own = items(
    measurements.filter((one) => groupOf(one) === 'amniotic-sac'),
    subject,
  );
  return findings(SR.amnioticSac, own, { about, template: '5010' });
}

/** Builds the pelvis section with the cervix and the lower placental edge (TID 5015). */
function pelvisSection(measurements: readonly Measurement[], subject: Subject): ContentItem[] {
  const own = items(
    measurements.filter((one) => groupOf(one) === 'pelvis'),
    subject,
  );
  return own.length > 0 ? [container(SR.pelvisAndUterus, own, '5015')] : [];
}

/**
 * Vessels of CID 12141 that are measured. All other vessels, including the umbilical artery, are in
 * CID 12140.
 */
const FETAL_VASCULATURE: ReadonlySet<string> = new Set(['17232002', '281130003', 'ductus-venosus']);

const UTERINE_ARTERY = '91079009';

const LATERALITY: Readonly<Record<string, Code>> = { left: SR.left, right: SR.right };

/** Builds a group for each vessel and side, titled with the vessel (TID 5025 and 5026). */
function vesselGroups(
  measurements: readonly Measurement[],
  subject: Subject,
  template: string,
  about: readonly ContentItem[],
): ContentItem[] {
  const groups = Map.groupBy(measurements, (one) => `${siteOf(one)?.code} ${one.laterality ?? ''}`);
  return Array.from(groups.values(), (own) => {
    const [first] = own;
    const vessel = first && siteOf(first);
    if (!first || !vessel) return [];
    const side = LATERALITY[first.laterality ?? ''];
    return [
      container(
        vessel,
        [
          ...about,
          ...(side ? [code('HAS CONCEPT MOD', SR.laterality, side)] : []),
          ...items(own, subject),
        ],
        template,
      ),
    ];
  }).flat();
}

/** Builds a Doppler section: fetal vessels (TID 5025), or vessels of pelvis and cord (TID 5026). */
function vascularSection(
  template: '5025' | '5026',
  { measurements }: Pick<Fetus, 'measurements'>,
  subject: Subject,
  about: readonly ContentItem[] = [],
): ContentItem[] {
  const own = measurements.filter(
    (one) =>
      groupOf(one) === 'vascular' &&
      siteOf(one) !== null &&
      FETAL_VASCULATURE.has(siteOf(one)?.code ?? '') === (template === '5025'),
  );
  const site = template === '5025' ? SR.embryonicVessels : SR.pelvicVessels;
  return findings(site, vesselGroups(own, subject, template, about));
}

/**
 * A fetus and its measurements. `id` is null if the measurements do not distinguish several
 * fetuses. `all` contains the labels of all fetuses.
 */
interface Fetus {
  id: string | null;
  all: readonly string[];
  measurements: Measurement[];
}

/**
 * Groups the measurements by fetus. If there are several fetuses, a value not assigned to one of
 * them is left out, unless it belongs to the mother. A fetus without an accepted value counts too:
 * without it, the values of its twin would appear as those of an only fetus.
 */
function fetusesOf(measurements: readonly Measurement[], all: readonly string[]): Fetus[] {
  if (numberOfFetuses(all) < 2) return [{ id: null, all, measurements: [...measurements] }];
  return all.map((id) => ({
    id,
    all,
    measurements: measurements.filter(({ fetus }) => fetus === id),
  }));
}

/** Returns true for values of the cervix, the placenta or the uterine arteries. */
const isOfMother = (one: Measurement) =>
  groupOf(one) === 'pelvis' || siteOf(one)?.code === UTERINE_ARTERY;

const subjectItems = ({ id, all }: Fetus): ContentItem[] =>
  id === null ? [] : fetusItems(id, all);

/**
 * Returns the growth rank of a value. The chart is written as a citation, because no context group
 * has a code for it (TID 5008, CID 12015 and 12016).
 */
function centileItem(name: Code, measurement: Measurement): ContentItem[] {
  const { reference } = measurement;
  if (!reference || reference.centile === null) return [];
  const citation = text('INFERRED FROM', SR.tableCitation, chartText(reference.chart));
  return [num('CONTAINS', name, { value: reference.centile, unit: PERCENT }, [citation])];
}

function statedAge(subject: Subject): ContentItem[] {
  if (!subject.dating) return [];
  const { gaDays, basis } = subject.dating;
  const names: Readonly<Record<string, Code>> = STATED_AGE;
  const name = names[basis] ?? SR.gestationalAge;
  return [num('CONTAINS', name, { value: gaDays, unit: DAYS })];
}

/** Builds the fetus summary (TID 5003). */
function fetusSummary(
  fetus: Fetus,
  ages: ReadonlySet<string>,
  result: Result,
  subject: Subject,
): ContentItem {
  const values = fetus.measurements.filter(
    (measurement) => groupOf(measurement) === 'summary' && !ages.has(measurement.id),
  );
  return container(SR.fetusSummary, [
    ...subjectItems(fetus),
    text('CONTAINS', SR.comment, summaryText(fetus, result)),
    ...statedAge(subject),
    ...values.flatMap((measurement) => [
      ...items([measurement], subject, false),
      ...(measurement.concept.key === 'efw' ? centileItem(SR.weightPercentile, measurement) : []),
    ]),
  ]);
}

/**
 * Returns as text what the coded rows cannot express: findings, values that were not accepted, and
 * parts that were not assessed.
 */
function summaryText(fetus: Fetus, result: Result): string {
  const rejected = countingValues(result.measurements).filter(
    ({ quality, fetus: of }) =>
      quality !== 'accepted' && (fetus.id === null || of === null || of === fetus.id),
  );
  const homeless =
    fetus.id !== null && accepted(result).some((one) => one.fetus === null && !isOfMother(one));
  return [
    `${noticeOf(result)}.`,
    researchNotice(result),
    noMeasurementStatement(result),
    ...conclusionTexts(result),
    ...result.findings.filter(({ severity }) => severity === 'info').map((finding) => finding.text),
    ...result.guidance.map(({ text: advice, source }) => `${advice} (${source})`),
    ...new Set(rejected.map(notAcceptedStatement)),
    ...remarks(result),
    homeless ? 'Measurements that could not be assigned to a fetus are left out here.' : null,
    ...ownSections(result).map(
      (section) => `${section.title}: ${sectionStatement(section, result)}`,
    ),
  ]
    .filter((line) => line !== null)
    .join('\r\n');
}

/**
 * Returns true for the ratios of biometry, those of heart to thorax, and the cerebroplacental ratio,
 * which belongs to no single vessel.
 */
const isRatio = (one: Measurement) =>
  groupOf(one) === 'ratio' ||
  (groupOf(one) === 'heart' && one.unit === '1') ||
  one.concept.key === 'cerebroplacental-ratio';

/**
 * Builds the ratios section (TID 5004). CID 12004 is extensible, so that it may contain more than the
 * ratios of biometry.
 */
function ratioSection(fetus: Fetus, subject: Subject): ContentItem[] {
  const ratios = fetus.measurements.filter(isRatio);
  if (ratios.length === 0) return [];
  const contents = [...subjectItems(fetus), ...items(ratios, subject)];
  return [container(SR.fetalBiometryRatios, contents, '5004')];
}

/**
 * Builds a biometry group (TID 5008): the values of one quantity, the gestational age calculated
 * from it, and its growth rank.
 */
function biometryGroup(
  values: readonly Measurement[],
  age: Measurement | undefined,
  subject: Subject,
): ContentItem {
  const [standing] = countingValues(values);
  return container(
    SR.biometryGroup,
    [
      ...items(values, subject, false),
      ...(age
        ? [num('CONTAINS', SR.gestationalAge, { value: age.value, unit: DAYS }, equationItems(age))]
        : []),
      ...(standing ? centileItem(SR.growthPercentile, standing) : []),
    ],
    '5008',
  );
}

/**
 * Returns, by key of a quantity, the gestational age calculated from that quantity alone. Each age
 * is written into the Biometry Group of its quantity, because in the fetus summary nothing would
 * distinguish the age by CRL, the age by the sac and the age stated in the request.
 */
function agesByQuantity(fetus: Fetus): Map<string, Measurement> {
  const byId = new Map(fetus.measurements.map((measurement) => [measurement.id, measurement]));
  const ages = new Map<string, Measurement>();
  for (const measurement of fetus.measurements) {
    const [input, ...more] = measurement.inputs.map((id) => byId.get(id));
    const isAge = conceptOf(measurement).code === SR.gestationalAge.code;
    if (isAge && input && more.length === 0 && hasBiometryGroup(input)) {
      ages.set(input.concept.key, measurement);
    }
  }
  return ages;
}

/** Sections with Biometry Groups, in the order of TID 5000, and the concepts of each section. */
const BIOMETRY_SECTIONS = [
  { group: 'biometry', title: SR.fetalBiometry, template: '5005' },
  { group: 'cranium', title: SR.fetalCranium, template: '5007' },
  { group: 'early-gestation', title: SR.earlyGestation, template: '5011' },
] as const;

const hasBiometryGroup = (one: Measurement) =>
  BIOMETRY_SECTIONS.some(({ group }) => group === groupOf(one));

/** Builds one of the sections with Biometry Groups (TID 5005, 5007 and 5011). */
function biometrySection(
  { group, title, template }: (typeof BIOMETRY_SECTIONS)[number],
  fetus: Fetus,
  ages: ReadonlyMap<string, Measurement>,
  subject: Subject,
): ContentItem[] {
  const lengths = fetus.measurements.filter((measurement) => groupOf(measurement) === group);
  if (lengths.length === 0) return [];
  const groups = Array.from(
    Map.groupBy(lengths, ({ concept }) => concept.key),
    ([key, values]) => biometryGroup(values, ages.get(key), subject),
  );
  return [container(title, [...subjectItems(fetus), ...groups], template)];
}

/**
 * Builds the content tree of TID 5000 (PS3.16; exchange 2.6) from the accepted values. The value
 * that counts for a quantity comes before the values from which it was calculated. PS3.16 has no
 * Selection Status for a median, so Selection Status is not written; the Derivation item marks a
 * median instead.
 */
function tid5000Tree(result: Result, subject: Subject): ContentItem {
  const standing = countingFirst(accepted(result));
  const fetuses = fetusesOf(standing, fetusesNamed(result.measurements));
  const several = fetuses.some(({ id }) => id !== null);
  const maternal = several ? standing.filter((one) => one.fetus === null && isOfMother(one)) : [];
  const ages = fetuses.map(agesByQuantity);
  const placed = new Set(
    ages.flatMap((byQuantity) => [...byQuantity.values()].map(({ id }) => id)),
  );
  const due = dueDate(subject);
  return root(SR.obGynReport, '5000', [
    languageItem(),
    ...observerItems(result),
    ...imageLibrary(subject),
    container(
      SR.summary,
      [
        ...(due ? [date('CONTAINS', SR.dueDate, due.replaceAll('-', ''))] : []),
        ...fetuses.map((fetus) => fetusSummary(fetus, placed, result, subject)),
      ],
      '5002',
    ),
    ...fetuses.flatMap((fetus) => ratioSection(fetus, subject)),
    ...BIOMETRY_SECTIONS.flatMap((section) =>
      fetuses.flatMap((fetus, index) =>
        biometrySection(section, fetus, ages[index] ?? new Map<string, Measurement>(), subject),
      ),
    ),
    ...fetuses.flatMap((fetus) =>
      amnioticSacSection(fetus.measurements, subject, subjectItems(fetus)),
    ),
    ...pelvisSection(standing, subject),
    ...fetuses.flatMap((fetus) => vascularSection('5025', fetus, subject, subjectItems(fetus))),
    ...fetuses.flatMap((fetus) => vascularSection('5026', fetus, subject, subjectItems(fetus))),
    ...vascularSection('5026', { measurements: maternal }, subject),
  ]);
}

/**
 * Writes the obstetric report that reporting systems import: TID 5000 as a Comprehensive SR.
 * @returns a DICOM Part 10 file; the same result and subject give the same bytes.
 */
export function buildTid5000(result: Result, subject: Subject): Buffer {
  const tree = tid5000Tree(result, subject);
  const header = srHeader(result, subject, {
    sopClass: 'comprehensive',
    role: 'sr-tid5000',
    number: 2,
    tree,
  });
  return encode(header, tree);
}
