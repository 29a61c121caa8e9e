import type { Observation, Patient, Period, ServiceRequest } from '@medplum/fhirtypes';
import type { FhirWorklistSettings } from '../../config/peers.ts';
import { LONGEST_INDICATION } from '../../pipelines/contract/job.ts';
import type { FoundOrder, OrderKeys, Worklist } from '../../src/core/studies/order.ts';
import {
  datingMenstrualDate,
  KILOGRAMS,
  METRES,
  type ObservedDate,
  ORDER_LOINC,
  quantityOf,
} from '../../src/core/studies/order-observations.ts';
import type { PatientIdentity } from '../../src/core/studies/patient.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { connectFhir, hasAnswer } from '../client/client.ts';
import { FhirFailure } from '../client/outcome.ts';
import type { FhirServer } from '../client/server.ts';
import { accessionNumber, searchToken } from '../resources/identifiers.ts';
import { VOID_ORDER } from './order.ts';
import { NO_ISSUER, patientIdIn } from './patient.ts';

/** Maximum number of orders read for one accession number. */
const MAX_ORDERS = 10;
/**
 * Maximum number of Observations read for each code. Several are read because the newest may be
 * withdrawn.
 */
const MAX_OBSERVATIONS = 10;

/** Statuses of a server that does not offer a search, or does not offer it to us. */
const NO_SEARCH = [400, 403, 404, 405, 501];

/** Value of (0010,0040) for each `Patient.gender`. */
const SEX: Readonly<Record<string, string>> = { female: 'F', male: 'M', other: 'O' };

/**
 * Creates the worklist for a FHIR server that keeps orders as ServiceRequests. It is searched only
 * by accession number, because a ServiceRequest has no Study Instance UID.
 */
export function serviceRequestWorklist(
  settings: FhirWorklistSettings,
  certificates: ClientCertificates,
): Worklist {
  const server = connectFhir(settings, certificates);
  return {
    name: settings.name,
    async orders(keys, signal) {
      try {
        return await ordersIn(server, keys, settings, signal);
      } catch (error) {
        if (!(error instanceof FhirFailure)) throw error;
        throw new SonogateError(error.reason.code, error.reason.detail, { cause: error });
      }
    },
  };
}

async function ordersIn(
  server: FhirServer,
  keys: OrderKeys,
  { patientIdentifierSystems: systems }: FhirWorklistSettings,
  signal: AbortSignal,
): Promise<FoundOrder[]> {
  if (!('accessionNumber' in keys)) return [];
  const query = {
    identifier: searchToken(accessionNumber(keys.accessionNumber)),
    _count: String(MAX_ORDERS),
  };
  const answer = await server.search('ServiceRequest', query, signal);
  const orders = answer
    .filter(({ status }) => !VOID_ORDER.has(status))
    // Filtered again, because a server that ignores `identifier` returns other orders too.
    .filter(({ identifier }) =>
      identifier?.some(({ value }) => value?.trim() === keys.accessionNumber),
    )
    .slice(0, MAX_ORDERS);
  return await Promise.all(
    orders.map(async (order) => {
      const id = patientIdIn(order.subject);
      const patient = id ? await server.read('Patient', id, signal) : null;
      const observations = id ? await observationsOf(server, id, signal) : [];
      return foundOrder(order, keys, { patient, observations, systems, today: new Date() });
    }),
  );
}

/**
 * Returns a patient's Observations. Each code is searched for separately: in a common search with
 * limited results, the many weights of a patient could displace the only date of a last menstrual
 * period. If the server does not offer this search, orders are used without Observations.
 */
async function observationsOf(
  server: FhirServer,
  patient: string,
  signal: AbortSignal,
): Promise<Observation[]> {
  const found = Object.values(ORDER_LOINC).map((loinc) => {
    const code = `http://loinc.org|${loinc}`;
    const count = String(MAX_OBSERVATIONS);
    const query = { subject: `Patient/${patient}`, code, _sort: '-date', _count: count };
    return server.search('Observation', query, signal);
  });
  try {
    // Filtered again: a server that ignores `subject` also returns other patients' Observations.
    return (await Promise.all(found))
      .flat()
      .filter(({ subject }) => patientIdIn(subject) === patient);
  } catch (error) {
    if (error instanceof FhirFailure && hasAnswer(error.reason, NO_SEARCH)) return [];
    throw error;
  }
}

/** Converts an order to the form returned by worklists. */
export function foundOrder(
  order: ServiceRequest,
  { accessionNumber: accession, studyDate = '' }: { accessionNumber: string; studyDate?: string },
  {
    patient,
    observations,
    systems,
    today,
  }: {
    patient: Patient | null;
    observations: readonly Observation[];
    systems: Readonly<Record<string, string>>;
    today: Date;
  },
): FoundOrder {
  const words = ({ text, coding }: { text?: string; coding?: { display?: string }[] }) =>
    text ?? coding?.find(({ display }) => display)?.display ?? '';
  const placer = order.identifier?.find(({ type }) =>
    type?.coding?.some(({ code }) => code === 'PLAC'),
  );
  const [ids, ...otherPatientIds] = identifiersOf(patient, systems, today);
  const sex = SEX[patient?.gender ?? ''] ?? '';
  return {
    patient: {
      patientId: '',
      issuerOfPatientId: '',
      ...ids,
      birthDate: patient?.birthDate?.replaceAll('-', '') ?? '',
      sex,
    },
    ...(otherPatientIds.length > 0 && { otherPatientIds }),
    studyInstanceUid: '',
    accessionNumber: accession,
    placerOrderNumber: placer?.value?.trim() ?? '',
    requestedProcedureId: '',
    requestedProcedure: order.code ? words(order.code) : '',
    indication: (order.reasonCode ?? [])
      .map(words)
      .filter(Boolean)
      .join(', ')
      .slice(0, LONGEST_INDICATION)
      .toWellFormed(),
    // A display name is not divided into parts, so all of it becomes the family name of the PN.
    referringPhysicianName: order.requester?.display?.trim().replaceAll(/[\^=\\]/g, ' ') ?? '',
    sex,
    lastMenstrualDate: datingMenstrualDate(
      {
        menstrual: datesIn(observations, ORDER_LOINC.lastMenstrualDate),
        due: datesIn(observations, ORDER_LOINC.dueDate),
      },
      studyDate,
    ),
    pregnancyStatus: null,
    patientSizeMetres: quantityIn(observations, ORDER_LOINC.height, METRES),
    patientWeightKilograms: quantityIn(observations, ORDER_LOINC.weight, KILOGRAMS),
  };
}

/**
 * Returns the patient's identifiers that are in use and whose systems represent an issuer of
 * patient IDs.
 */
function identifiersOf(
  patient: Patient | null,
  systems: Readonly<Record<string, string>>,
  today: Date,
): Pick<PatientIdentity, 'patientId' | 'issuerOfPatientId'>[] {
  const isOver = ({ end }: Period) => {
    // A date may lack its day or month. The period has ended once all of the stated date has
    // passed.
    const date = end?.slice(0, 10);
    return date !== undefined && date < today.toISOString().slice(0, date.length);
  };
  const used = (patient?.identifier ?? []).filter(
    ({ use, period }) => use !== 'old' && !(period && isOver(period)),
  );
  return Object.entries(systems).flatMap(([issuer, system]) =>
    used
      .filter((one) => one.system === system && one.value?.trim())
      .map(({ value = '' }) => ({
        patientId: value.trim(),
        issuerOfPatientId: issuer === NO_ISSUER ? '' : issuer,
      })),
  );
}

const withCode = (observations: readonly Observation[], loinc: string): Observation[] =>
  observations
    .filter(
      ({ code, status }) =>
        status !== 'entered-in-error' &&
        status !== 'cancelled' &&
        code.coding?.some((one) => one.system === 'http://loinc.org' && one.code === loinc),
    )
    .toSorted((a, b) => observedAt(b) - observedAt(a));

/**
 * Returns when a value was observed, otherwise when it was issued; -Infinity if neither is known.
 */
function observedAt(observation: Observation): number {
  const { effectiveDateTime, effectiveInstant, effectivePeriod, issued } = observation;
  const stated = effectiveDateTime ?? effectiveInstant ?? effectivePeriod?.start ?? issued;
  const time = Date.parse(stated ?? '');
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
}

function datesIn(observations: readonly Observation[], loinc: string): ObservedDate[] {
  return withCode(observations, loinc).flatMap((observation) => {
    const date = observation.valueDateTime?.slice(0, 10) ?? '';
    return /^\d{4}-\d{2}-\d{2}$/.test(date)
      ? [{ date: date.replaceAll('-', ''), observedAt: observedAt(observation) }]
      : [];
  });
}

/** Returns the quantity of the newest Observation with the code; null if its unit is unknown. */
function quantityIn(
  observations: readonly Observation[],
  loinc: string,
  units: Readonly<Record<string, number>>,
): number | null {
  const quantity = withCode(observations, loinc)[0]?.valueQuantity;
  return quantityOf(
    { value: quantity?.value, unit: quantity?.code ?? quantity?.unit ?? '' },
    units,
  );
}
