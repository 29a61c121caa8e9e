import type { CapabilityStatement, CapabilityStatementRestResource } from '@medplum/fhirtypes';
import { TOPICS } from '../../../core/subscriptions/subscriptions.ts';
import { VERSION } from '../../../platform/version.ts';
import { FHIR } from './outcome.ts';
import { BACKPORT, SUBSCRIPTION_PROFILE, topicCanonical } from './subscription.ts';

interface ServedParts {
  submission: boolean;
  subscriptions: boolean;
}

/**
 * Returns the CapabilityStatement of `/fhir`.
 * @param address the server's address, without a trailing slash.
 */
export function capabilityStatement(address: string, parts: ServedParts): CapabilityStatement {
  return {
    resourceType: 'CapabilityStatement',
    status: 'active',
    date: '2026-11-23',
    kind: 'instance',
    software: { name: 'Sonogate', version: VERSION },
    implementation: { description: 'Requests as tasks', url: `${address}${FHIR}` },
    fhirVersion: '4.0.1',
    format: ['json'],
    rest: [
      {
        mode: 'server',
        security: {
          description:
            'Authorization: Bearer with an API key that has the scope required by the interaction',
        },
        resource: [taskCapability(parts), ...(parts.subscriptions ? [SUBSCRIPTION] : [])],
      },
    ],
  };
}

const taskCapability = ({ submission }: ServedParts): CapabilityStatementRestResource => ({
  type: 'Task',
  interaction: [
    ...(submission ? [{ code: 'create' as const }] : []),
    { code: 'read' },
    { code: 'search-type' },
  ],
  ...(submission && { conditionalCreate: true }),
  searchParam: [
    { name: '_id', type: 'token' },
    { name: 'identifier', type: 'token' },
    { name: 'status', type: 'token' },
    { name: 'authored-on', type: 'date', documentation: 'with the prefix ge' },
  ],
});

const SUBSCRIPTION: CapabilityStatementRestResource = {
  extension: TOPICS.map((topic) => ({
    url: `${BACKPORT}/StructureDefinition/capabilitystatement-subscriptiontopic-canonical`,
    valueCanonical: topicCanonical(topic),
  })),
  type: 'Subscription',
  supportedProfile: [SUBSCRIPTION_PROFILE],
  interaction: [{ code: 'create' }, { code: 'read' }, { code: 'search-type' }, { code: 'delete' }],
  searchParam: [
    { name: '_id', type: 'token' },
    { name: 'status', type: 'token' },
    { name: 'criteria', type: 'string' },
    { name: 'url', type: 'uri' },
  ],
  operation: [
    { name: 'status', definition: `${BACKPORT}/OperationDefinition/backport-subscription-status` },
    { name: 'events', definition: `${BACKPORT}/OperationDefinition/backport-subscription-events` },
  ],
};
