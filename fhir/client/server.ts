import type {
  Bundle,
  BundleEntry,
  CapabilityStatement,
  Resource,
  ResourceType,
} from '@medplum/fhirtypes';

export type ResourceOf<Type extends ResourceType> = Extract<Resource, { resourceType: Type }>;

/**
 * A committed transaction: the relative locations of the resources, in the order of the entries. A
 * location is null if the server did not return it.
 */
export interface TransactionReceipt {
  locations: readonly (string | null)[];
}

/** A file to be stored as a Binary. */
export interface Content {
  data: Buffer;
  mediaType: string;
  /** Reference of the resource whose access rules apply to the file, if there is one. */
  securityContext: string | undefined;
}

/**
 * The interactions with an EHR that a delivery needs. Every method rejects with a FhirFailure for
 * any failure of the peer or the network.
 */
export interface FhirServer {
  /**
   * Searches by POST `[base]/<type>/_search`, so that parameters identifying a patient do not
   * appear in access logs.
   */
  search<Type extends ResourceType>(
    type: Type,
    parameters: Record<string, string>,
    signal: AbortSignal,
  ): Promise<ResourceOf<Type>[]>;
  /** Reads one resource by GET; null if it does not exist or has been deleted. */
  read<Type extends ResourceType>(
    type: Type,
    id: string,
    signal: AbortSignal,
  ): Promise<ResourceOf<Type> | null>;
  /**
   * Creates one resource by POST, outside a transaction.
   * @returns its reference, `Type/id`.
   */
  create(resource: Resource, signal: AbortSignal): Promise<string>;
  /**
   * Stores a file as a Binary: as a resource with base64 data, or as its bytes (FHIR R4, Binary) if
   * the server refuses the resource. A file larger than a FHIR string is first sent as its bytes.
   * @returns its reference, `Binary/id`.
   */
  createBinary(content: Content, signal: AbortSignal): Promise<string>;
  /**
   * Writes one entry of a transaction on its own, with the method, condition and version that the
   * entry states.
   * @returns the reference of the written resource.
   */
  write(entry: BundleEntry, signal: AbortSignal): Promise<string>;
  /**
   * Sends a transaction by POST. The status of every entry is checked, even if the transaction
   * itself returns 200.
   */
  transaction(bundle: Bundle, signal: AbortSignal): Promise<TransactionReceipt>;
  /** Returns the server's CapabilityStatement; null if the server has none. */
  capabilities(signal: AbortSignal): Promise<CapabilityStatement | null>;
}
