import type {
  CodeableConcept,
  Observation,
  ObservationComponent,
  ObservationReferenceRange,
  Quantity,
  Reference,
} from '@medplum/fhirtypes';
import {
  CODING_SYSTEMS,
  chartEntry,
  conceptEntry,
  methodEntry,
} from '../../pipelines/concepts/concepts.ts';
import { isTranslation } from '../../pipelines/contract/translate.ts';
import type { Subject } from '../../pipelines/dicom/subject.ts';
import {
  type Finding,
  isFromReport,
  type Measurement,
  type Result,
  type Section,
} from '../../pipelines/result/envelope.ts';
import {
  exchanged,
  exchangedCentile,
  exchangedMargin,
  withoutAnnotations,
} from '../../pipelines/result/exchange.ts';
import { isSummary } from '../../pipelines/result/measured.ts';
import { categoryText, criterionText } from '../../pipelines/result/render/categories.ts';
import { basisText, weeksAndDays } from '../../pipelines/result/render/obstetric/shared.ts';
import {
  isOurs,
  notAcceptedStatement,
  originStatement,
  statedMethod,
  withheldText,
} from '../../pipelines/result/render/statement.ts';
import { unitText } from '../../pipelines/result/render/unit-text.ts';
import { countingValues } from '../../pipelines/result/standing.ts';
import {
  AI_ASSERTED,
  COMPONENT,
  fromConcept,
  fromTable,
  IMAGING_CATEGORY,
  measurementCodings,
  SECTION_CODES,
  SYSTEMS,
} from './codes.ts';
import { resourceUrn, resultIdentifier } from './identifiers.ts';
import { type ReportContext, signatories, statusOf } from './report-context.ts';

/**
 * An Observation and its role in the request, which determines its identifier and its `urn:uuid:`.
 */
export interface ObservationEntry {
  role: string;
  section: string;
  resource: Observation;
}

/** Returns a reference to an Observation in the same bundle. */
export function observationReference(requestId: string, role: string): Reference<Observation> {
  return { reference: resourceUrn(requestId, role) };
}

/**
 * Returns the elements common to all Observations of a result.
 * @param ours false for a value that this software received as input; it is not marked as asserted
 * by AI.
 */
function observationBase(
  context: ReportContext,
  role: string,
  code: CodeableConcept,
  ours = !isTranslation(context.result),
): Observation {
  return {
    resourceType: 'Observation',
    meta: ours ? { security: [AI_ASSERTED] } : undefined,
    identifier: [resultIdentifier(context.resultSystem, context.reportKey, role)],
    basedOn: context.order ? [context.order] : undefined,
    partOf: context.imagingStudy ? [context.imagingStudy] : undefined,
    status: statusOf(context.result),
    category: [IMAGING_CATEGORY],
    code,
    subject: context.patient,
    encounter: context.encounter,
    effectiveDateTime: context.effective,
    issued: context.result.generated_at,
    performer: nonEmpty(signatories(context.result)),
    note: ours && context.result.draft ? [{ text: 'Unverified AI draft' }] : undefined,
  };
}

/**
 * Returns a Quantity with four significant digits, enough for a score or a probability. A number
 * without a dimension has a code but no unit in words: an EHR would print "1.18 1".
 */
function quantity(value: number, unit: string): Quantity {
  const code = withoutAnnotations(unit);
  const shown = unitText(unit);
  return {
    value: Number(value.toPrecision(4)),
    ...(shown && { unit: shown }),
    system: SYSTEMS.ucum,
    code,
  };
}

const INTERPRETATION_DISPLAY = {
  N: 'Normal',
  L: 'Low',
  H: 'High',
  A: 'Abnormal',
  AA: 'Critical abnormal',
} as const;

function interpretationOf(code: keyof typeof INTERPRETATION_DISPLAY): CodeableConcept {
  return {
    coding: [{ system: SYSTEMS.interpretation, code, display: INTERPRETATION_DISPLAY[code] }],
  };
}

/** Returns undefined for an empty list: FHIR has no empty arrays, so the element is omitted. */
export function nonEmpty<Item>(items: Item[]): Item[] | undefined {
  return items.length > 0 ? items : undefined;
}

/**
 * Returns the range that a value was compared with. The text states the chart and, if the scan was
 * dated, the gestational age. If the chart has no limits, the text is the only content (invariant
 * obs-3).
 */
function referenceRange(
  reference: NonNullable<Measurement['reference']>,
  quantity: (value: number) => Quantity,
  dating: Subject['dating'],
): ObservationReferenceRange[] {
  const chart = chartEntry(reference.chart);
  const name = chart ? `${chart.name}; ${chart.citation}` : reference.chart;
  return [
    {
      low: reference.low === null ? undefined : quantity(reference.low),
      high: reference.high === null ? undefined : quantity(reference.high),
      text: dating
        ? `${name}; at ${weeksAndDays(dating.gaDays)} weeks by ${basisText(dating.basis)}`
        : name,
    },
  ];
}

/** Marks a value that a person must review before it is used. */
const NEEDS_REVIEW = {
  system: CODING_SYSTEMS['99USINT'],
  code: 'needs-review',
  display: 'Needs review before use',
};

/** Marks a value that allows no conclusion. */
const INDETERMINATE = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation',
  code: 'IND',
  display: 'Indeterminate',
};

/**
 * Returns the role of a measurement: its id and the fetus, so that twins never share an identifier.
 */
function measurementRole(m: Measurement): string {
  return m.fetus === null ? m.id : `${m.id}/${m.fetus}`;
}

/**
 * Converts one measurement to an Observation. A value that is neither accepted nor a proposal for
 * review is replaced by the reason why it is absent (invariant obs-6 forbids having both).
 * @param roles role for each measurement id, to resolve `inputs`.
 */
function measurementObservation(
  context: ReportContext,
  m: Measurement,
  roles: ReadonlyMap<string, string>,
): ObservationEntry {
  const role = measurementRole(m);
  const coding = measurementCodings(m);
  const inputs = m.inputs.flatMap((id) => roles.get(id) ?? []);
  const origin = originStatement(m);
  const resource: Observation = {
    ...observationBase(context, role, { coding, text: m.label }, isOurs(m)),
    bodySite: bodySite(m),
    method: methodOf(m),
    device: isOurs(m) ? context.device : undefined,
    derivedFrom: nonEmpty([
      ...(context.imagingStudy && inputs.length === 0 ? [context.imagingStudy] : []),
      ...inputs.map((input) => observationReference(context.requestId, input)),
    ]),
  };
  resource.note = nonEmpty([
    ...(resource.note ?? []),
    ...(origin ? [{ text: origin }] : []),
    ...(m.note ? [{ text: m.note }] : []),
  ]);
  const isProposal = m.quality === 'review';
  if (m.quality !== 'accepted' && !isProposal) {
    resource.dataAbsentReason = {
      coding: [{ system: SYSTEMS.dataAbsentReason, code: 'error', display: 'Error' }],
      text: withheldText(m),
    };
    resource.component = nonEmpty(fetusComponent(m));
    return { role, section: m.section, resource };
  }
  resource.valueQuantity = exchangeQuantity(m);
  if (isProposal) {
    // Every Observation in a draft is preliminary. This one is also marked, because a person must
    // review it before it counts even in the draft.
    resource.meta = { ...resource.meta, tag: [NEEDS_REVIEW] };
    resource.note = [{ text: notAcceptedStatement(m) }, ...(resource.note ?? [])];
  }
  resource.interpretation = isProposal
    ? [{ coding: [INDETERMINATE], text: 'Proposal, needs review' }]
    : m.interpretation
      ? [interpretationOf(m.interpretation)]
      : undefined;
  resource.referenceRange = m.reference
    ? referenceRange(m.reference, (value) => exchangeQuantity(m, value), context.subject.dating)
    : undefined;
  resource.component = nonEmpty(componentsOf(m));
  return { role, section: m.section, resource };
}

function componentsOf(m: Measurement): ObservationComponent[] {
  const { reference } = m;
  const components = fetusComponent(m);
  const add = (code: CodeableConcept, valueQuantity: Quantity) =>
    components.push({ code, valueQuantity });
  if (reference && reference.centile !== null) {
    add(COMPONENT.centile, { ...quantity(0, '%'), ...exchangedCentile(reference.centile) });
  }
  if (reference && reference.z_score !== null)
    add(COMPONENT.zScore, quantity(reference.z_score, '1'));
  if (m.confidence !== null) add(COMPONENT.confidence, quantity(m.confidence, '1'));
  const margin = exchangedMargin(m);
  if (margin) add(COMPONENT.uncertainty, { ...quantity(0, margin.unit), value: margin.value });
  return components;
}

function fetusComponent(m: Measurement): ObservationComponent[] {
  return m.fetus === null ? [] : [{ code: COMPONENT.fetus, valueString: m.fetus }];
}

function bodySite(m: Measurement): CodeableConcept | undefined {
  const site = conceptEntry(m.concept.key)?.site ?? null;
  const words = [m.laterality, m.site ?? site?.meaning].filter(Boolean).join(' ');
  return words ? { coding: site ? [fromTable(site)] : undefined, text: words } : undefined;
}

function methodOf(m: Measurement): CodeableConcept | undefined {
  const stated = statedMethod(m);
  if (stated === null) return undefined;
  const method = methodEntry(stated);
  return {
    coding: method?.equation ? [fromTable(method.equation)] : undefined,
    text: [method?.text ?? stated, method?.citation, summaryText(m)].filter(Boolean).join('; '),
  };
}

/**
 * Returns how many values a mean or median summarises, as in the report. The number is not known for
 * the mean of a machine. The name of the method says that a value is the mean of the beats of one
 * image.
 */
function summaryText(m: Measurement): string | null {
  if (!isSummary(m)) return null;
  if (m.inputs.length > 0) return `${m.derivation} of ${m.inputs.length} values`;
  return isFromReport(m) ? m.derivation : null;
}

function exchangeQuantity(m: Measurement, number?: number): Quantity {
  const { value, unit } = exchanged(m, number);
  return { ...quantity(value, unit), value };
}

function scoreObservation(
  context: ReportContext,
  score: Result['scores'][number],
): ObservationEntry {
  const role = `score/${score.id}`;
  const coding = score.concept ? [fromConcept(score.concept)] : undefined;
  const [low, high] = score.range;
  const resource: Observation = {
    ...observationBase(context, role, { coding, text: score.name }),
    valueQuantity: quantity(score.value, '1'),
    // The range of a score is not a reference range, so it is described in words.
    method: { text: `Score from ${low} to ${high}` },
    component: nonEmpty(
      score.components.map(({ name, value }) => ({
        code: { text: name },
        valueQuantity: quantity(value, '1'),
      })),
    ),
    device: context.device,
    derivedFrom: context.imagingStudy ? [context.imagingStudy] : undefined,
  };
  return { role, section: score.section, resource };
}

function classificationObservation(
  context: ReportContext,
  classification: Result['classifications'][number],
): ObservationEntry {
  const role = `classification/${classification.id}`;
  const coding = classification.concept ? [fromConcept(classification.concept)] : undefined;
  const resource: Observation = {
    ...observationBase(context, role, { coding, text: classification.name }),
    valueCodeableConcept: {
      text: categoryText(classification.concept?.key ?? null, classification.value),
    },
    method: { text: chartEntry(classification.scheme)?.name ?? classification.scheme },
    component: nonEmpty(
      classification.criteria.map((criterion) => ({
        code: { text: criterion.name },
        valueString: criterionText(criterion),
      })),
    ),
    device: context.device,
    derivedFrom: context.imagingStudy ? [context.imagingStudy] : undefined,
  };
  return { role, section: classification.section, resource };
}

/**
 * Converts a finding to an Observation in words, with the Observations it is based on.
 * @param roles role for each measurement id, to resolve `evidence`.
 */
function findingObservation(
  context: ReportContext,
  finding: Finding,
  roles: ReadonlyMap<string, string>,
): ObservationEntry {
  const role = `finding/${finding.id}`;
  const code = finding.concept
    ? { coding: [fromConcept(finding.concept)] }
    : { text: 'Finding of the software' };
  const severity = { info: null, abnormal: 'A', critical: 'AA' } as const;
  const interpretation = severity[finding.severity];
  const evidence = finding.evidence.flatMap((id) => roles.get(id) ?? []);
  const resource: Observation = {
    ...observationBase(context, role, code),
    valueString: finding.text,
    interpretation: interpretation ? [interpretationOf(interpretation)] : undefined,
    device: context.device,
    derivedFrom: nonEmpty(evidence.map((id) => observationReference(context.requestId, id))),
  };
  return { role, section: finding.section, resource };
}

/**
 * Returns the Observations of a result: first a group for each section, then the measurements that
 * count, the scores, classifications and findings.
 */
export function buildObservations(context: ReportContext): ObservationEntry[] {
  const { result } = context;
  // Repeated measurements stay in the structured report: an EHR would chart them as further values
  // with the same code. A signed result contains no proposals: values that nobody confirmed were
  // not signed.
  const measurements = countingValues(result.measurements).filter(
    ({ quality }) => result.draft || quality !== 'review',
  );
  const roles = new Map(measurements.map((m) => [m.id, measurementRole(m)]));
  const members: ObservationEntry[] = [
    ...measurements.map((m) => measurementObservation(context, m, roles)),
    ...result.scores.map((score) => scoreObservation(context, score)),
    ...result.classifications.map((classification) =>
      classificationObservation(context, classification),
    ),
    ...result.findings.map((finding) => findingObservation(context, finding, roles)),
  ];
  const groups = result.sections.flatMap((section) => {
    const inSection = members.filter((member) => member.section === section.id);
    return inSection.length > 0 ? [group(context, section, inSection)] : [];
  });
  return [...groups, ...members];
}

function group(
  context: ReportContext,
  section: Section,
  members: readonly ObservationEntry[],
): ObservationEntry {
  const role = `section/${section.id}`;
  const coding = SECTION_CODES[section.id];
  const resource: Observation = {
    ...observationBase(context, role, {
      coding: coding ? [coding] : undefined,
      text: section.title,
    }),
    hasMember: members.map((member) => observationReference(context.requestId, member.role)),
  };
  return { role, section: section.id, resource };
}
