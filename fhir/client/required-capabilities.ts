import type {
  CapabilityStatement,
  CapabilityStatementRestResource,
  ResourceType,
} from '@medplum/fhirtypes';

type Interaction = 'create' | 'read' | 'search-type' | 'update';

interface Asked {
  type: ResourceType;
  interactions: readonly Interaction[];
  /** The search parameters that searches and conditional interactions use. */
  searches: Readonly<Record<string, 'token' | 'reference' | 'date' | 'string'>>;
  conditional?: 'create' | 'update';
  /** True if the resource is written under an id that the gateway chooses (update as create). */
  ownId?: true;
  why: string;
}

const BY_IDENTIFIER = { identifier: 'token' } as const;

/** Every interaction with an EHR that a delivery may need. They are listed only here. */
const ASKED: readonly Asked[] = [
  {
    type: 'Patient',
    interactions: ['search-type', 'read', 'create'],
    searches: { ...BY_IDENTIFIER, birthdate: 'date', family: 'string' },
    conditional: 'create',
    why: 'Searched by identifier; searched by birth date and family name only to show candidates to a person; read after a person has chosen; created only with createPatient.',
  },
  {
    type: 'ServiceRequest',
    interactions: ['search-type', 'read'],
    searches: BY_IDENTIFIER,
    why: 'The order, searched by accession number; read after a person has chosen.',
  },
  {
    type: 'Device',
    interactions: ['create'],
    searches: BY_IDENTIFIER,
    conditional: 'create',
    why: 'The software and its weights; never updated.',
  },
  {
    type: 'ImagingStudy',
    interactions: ['create'],
    searches: BY_IDENTIFIER,
    conditional: 'create',
    why: 'Created only if the EHR has none; never updated.',
  },
  {
    type: 'Observation',
    interactions: ['update', 'read'],
    searches: BY_IDENTIFIER,
    conditional: 'update',
    why: 'One for each statement; those missing from a later run are read and withdrawn.',
  },
  {
    type: 'Media',
    interactions: ['update', 'read'],
    searches: BY_IDENTIFIER,
    conditional: 'update',
    why: 'Key images with calipers; those missing from a later run are read and withdrawn.',
  },
  {
    type: 'DocumentReference',
    interactions: ['update', 'search-type'],
    searches: BY_IDENTIFIER,
    conditional: 'update',
    why: 'The PDF; the one from an earlier run is searched for and superseded.',
  },
  {
    type: 'Binary',
    interactions: ['create'],
    searches: {},
    why: 'The PDF, if it is too large to be sent inline.',
  },
  {
    type: 'DiagnosticReport',
    interactions: ['search-type', 'update'],
    searches: BY_IDENTIFIER,
    conditional: 'update',
    why: 'The report; searched for before each write, and written with If-Match over the draft that was read.',
  },
  {
    type: 'Provenance',
    interactions: ['update', 'create', 'search-type'],
    searches: { target: 'reference' },
    ownId: true,
    why: 'Written under an id chosen by Sonogate; if the EHR does not accept such ids, created once after a search by target.',
  },
];

/** Date of the last change to this list. Update it whenever an entry changes. */
const STATED = '2026-11-21';

/**
 * Returns the interactions that an EHR must offer, as a CapabilityStatement of kind `requirements`.
 */
export function requiredCapabilities(): CapabilityStatement {
  return {
    resourceType: 'CapabilityStatement',
    name: 'SonogateResults',
    title: 'What Sonogate asks of an EHR',
    status: 'active',
    date: STATED,
    description:
      'Interactions that Sonogate uses to deliver ultrasound results. A transaction of conditional entries is preferred. To an EHR without transactions, the resources are sent one after the other; an EHR without conditional interactions is searched first.',
    kind: 'requirements',
    fhirVersion: '4.0.1',
    format: ['application/fhir+json'],
    rest: [
      {
        mode: 'server',
        interaction: [{ code: 'transaction' }],
        resource: ASKED.map(resource),
      },
    ],
  };
}

/**
 * Returns the SMART scopes that are sufficient for deliveries (SMART App Launch 2.2), with the
 * letters in the order of `cruds`.
 */
export function sufficientScopes(): string[] {
  const letters: Readonly<Record<Interaction, string>> = {
    create: 'c',
    read: 'r',
    update: 'u',
    'search-type': 's',
  };
  return ASKED.map(({ type, interactions, conditional }) => {
    // A conditional update may create a resource, which needs `create`. If the EHR has no
    // conditional interactions, the gateway searches for the resource first, which needs
    // `search-type`.
    const needed = new Set<Interaction>(interactions);
    if (conditional) needed.add('search-type');
    if (conditional === 'update') needed.add('create');
    const permissions = (Object.keys(letters) as Interaction[])
      .filter((interaction) => needed.has(interaction))
      .map((interaction) => letters[interaction]);
    return `system/${type}.${permissions.join('')}`;
  });
}

function resource({
  type,
  interactions,
  searches,
  conditional,
  ownId,
  why,
}: Asked): CapabilityStatementRestResource {
  const searchParam = Object.entries(searches).map(([name, kind]) => ({ name, type: kind }));
  return {
    type,
    interaction: interactions.map((code) => ({ code })),
    ...(conditional === 'create' && { conditionalCreate: true }),
    ...(conditional === 'update' && { conditionalUpdate: true }),
    ...(ownId && { updateCreate: true }),
    ...(type === 'DiagnosticReport' && { versioning: 'versioned-update' as const }),
    ...(searchParam.length > 0 && { searchParam }),
    documentation: why,
  };
}
