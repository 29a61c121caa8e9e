import type {
  CodeableConcept,
  Observation,
  ObservationComponent,
  Quantity,
} from '@medplum/fhirtypes';
import { isOurs, originStatement } from '../pipelines/artifacts/statement.ts';
import { rounded } from '../pipelines/measure/rounding.ts';
import { conceptEntry, methodEntry } from '../pipelines/result/concepts.ts';
import type { Measurement } from '../pipelines/result/envelope.ts';
import { COMPONENT, fromConcept, fromTable, SYSTEMS } from './codes.ts';
import {
  interpretationOf,
  nonEmpty,
  type ObservationEntry,
  observationBase,
  observationReference,
  quantity,
} from './observation-base.ts';
import { referenceRange } from './reference-range.ts';
import type { ReportContext } from './report-context.ts';

const DERIVATION_TEXT = { mean: 'mean of several frames', median: 'median of several frames' };

/** Role of a measurement: its id, and the fetus, so that twins never share an identifier. */
export function measurementRole(m: Measurement): string {
  return m.fetus === null ? m.id : `${m.id}/${m.fetus}`;
}

/**
 * One measurement as an Observation. A value below its confidence gate is not sent: a reason stands
 * in its place (invariant obs-6 forbids both).
 * @param roles measurement id → role, to resolve `inputs`.
 */
export function measurementObservation(
  context: ReportContext,
  m: Measurement,
  roles: ReadonlyMap<string, string>,
): ObservationEntry {
  const role = measurementRole(m);
  const entry = conceptEntry(m.concept.key);
  const coding = entry ? entry.codings.map(fromTable) : [fromConcept(m.concept)];
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
  if (m.quality !== 'accepted') {
    resource.dataAbsentReason = {
      coding: [{ system: SYSTEMS.dataAbsentReason, code: 'error', display: 'Error' }],
      text: `Image quality ${m.quality}: the value is below its confidence gate and is withheld`,
    };
    resource.component = nonEmpty(fetusComponent(m));
    return { role, section: m.section, resource };
  }
  resource.valueQuantity = exchangeQuantity(m, m.value);
  resource.interpretation = m.interpretation ? [interpretationOf(m.interpretation)] : undefined;
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
    add(COMPONENT.centile, quantity(reference.centile, '%'));
  }
  if (reference && reference.z_score !== null)
    add(COMPONENT.zScore, quantity(reference.z_score, '1'));
  if (m.confidence !== null) add(COMPONENT.confidence, quantity(m.confidence, '1'));
  if (m.uncertainty !== null) add(COMPONENT.uncertainty, exchangeQuantity(m, m.uncertainty));
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

function methodOf(m: Measurement): CodeableConcept {
  const method = methodEntry(m.method);
  const derivation =
    m.derivation === 'mean' || m.derivation === 'median' ? [DERIVATION_TEXT[m.derivation]] : [];
  return {
    coding: method?.equation ? [fromTable(method.equation)] : undefined,
    text: [
      method?.text ?? m.method,
      ...(method?.citation ? [method.citation] : []),
      ...derivation,
    ].join('; '),
  };
}

/**
 * In the unit of exchange of the concept table, where that differs from the envelope's, with the
 * decimals that the printed report shows: FHIR takes every digit of a decimal for significant.
 */
function exchangeQuantity(m: Measurement, value: number): Quantity {
  const entry = conceptEntry(m.concept.key);
  // Another unit than the table's, as a machine may have used: the factor would not fit it.
  if (entry?.unit !== m.unit) return quantity(value, m.unit);
  const { unit, factor } = entry.exchange;
  const decimals = Math.max(0, entry.decimals - Math.round(Math.log10(factor)));
  return { ...quantity(value, unit), value: rounded(value * factor, decimals) };
}
