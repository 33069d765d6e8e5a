import { asObject, asText, type Json } from '../json.js';

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? Math.round(value) : null);
const partOf = (value: unknown): { readonly id: string | null } | null => {
  const id = asText(value);
  return id === null ? null : { id };
};
const ownerOf = (row: Json) => ({ id: asText(row['OwnerId']) });
/** Converts a date to ISO 8601: Salesforce writes offsets without a colon. */
export const timestampOf = (value: unknown): string | null => {
  const text = asText(value);
  return text?.includes('T') && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : text;
};
const times = (row: Json) => ({
  created_at: timestampOf(row['CreatedDate']) ?? '',
  updated_at: timestampOf(row['LastModifiedDate']) ?? '',
  is_deleted: row['IsDeleted'] === true,
});
const activity = (row: Json) => ({ last_activity_at: asText(row['LastActivityDate']) });

const addressOf = (value: unknown, type: string | null): readonly Json[] => {
  const { street, city, state, postalCode, country } = asObject(value);
  // Salesforce stores all lines of a street in one text.
  const [first, ...more] = (asText(street) ?? '').split(/\r?\n/);
  const address = {
    street_1: first || null,
    street_2: more.join(', ') || null,
    city: asText(city),
    state: asText(state),
    postal_code: asText(postalCode),
    country: asText(country),
  };
  return Object.values(address).some((part) => part !== null) ? [{ ...address, address_type: type }] : [];
};
const phonesOf = (row: Json, kinds: Readonly<Record<string, string>>): readonly Json[] =>
  Object.entries(kinds).flatMap(([field, type]) => {
    const number = asText(row[field]);
    return number === null ? [] : [{ phone_number: number, phone_number_type: type }];
  });
const emailsOf = (row: Json): readonly Json[] => {
  const email = asText(row['Email']);
  return email === null ? [] : [{ email, email_type: 'PRIMARY' }];
};

const PHONE = { Phone: 'PRIMARY', Fax: 'FAX' };
const PERSON_PHONE = { Phone: 'PRIMARY', MobilePhone: 'MOBILE', HomePhone: 'HOME', OtherPhone: 'OTHER', Fax: 'FAX' };

/** Prefix of contact ids. The person of a task or event is a contact or a lead. */
const CONTACT_ID = /^003/;
const LEAD_ID = /^00Q/;
const relations = (row: Json) => {
  const who = asText(row['WhoId']);
  return {
    owner: ownerOf(row),
    account: partOf(row['AccountId']),
    contact: who !== null && CONTACT_ID.test(who) && !LEAD_ID.test(who) ? { id: who } : null,
  };
};
const ACTIVITY_FIELDS = [
  'Id',
  'OwnerId',
  'WhoId',
  'AccountId',
  'Subject',
  'Description',
  'CreatedDate',
  'LastModifiedDate',
  'IsDeleted',
];
const taskOf = (row: Json, remote: boolean): Json => ({
  id: asText(row['Id']) ?? '',
  ...relations(row),
  subject: asText(row['Subject']),
  description: asText(row['Description']),
  priority: asText(row['Priority']),
  status: asText(row['Status']),
  ...times(row),
  remote_data: remote ? row : null,
});
const eventOf = (row: Json, remote: boolean): Json => ({
  id: asText(row['Id']) ?? '',
  ...relations(row),
  subject: asText(row['Subject']),
  description: asText(row['Description']),
  location: asText(row['Location']),
  is_all_day: row['IsAllDayEvent'] === true,
  start_date: timestampOf(row['StartDateTime']) ?? asText(row['ActivityDate']),
  end_date: timestampOf(row['EndDateTime']),
  ...times(row),
  remote_data: remote ? row : null,
});

/** Related records that can be included, by field name. */
export const INCLUDES: Readonly<
  Record<string, { readonly fields: readonly string[]; present(row: Json, remote: boolean): Json }>
> = {
  Tasks: { fields: [...ACTIVITY_FIELDS, 'Priority', 'Status'], present: taskOf },
  Events: {
    fields: [...ACTIVITY_FIELDS, 'Location', 'IsAllDayEvent', 'StartDateTime', 'EndDateTime', 'ActivityDate'],
    present: eventOf,
  },
};

/** A field that a list can be sorted by. */
interface Order {
  readonly field: string;
  /** Whether queries must quote its values; numbers and times are not quoted. */
  readonly isText?: true;
}
/** A filter condition for callers. */
type Filter = { readonly field: string; readonly match: 'is' | 'has' } | { readonly match: (value: string) => string };

/** A type of record. */
export interface CrmKind {
  readonly object: string;
  readonly fields: readonly string[];
  readonly filters: Readonly<Record<string, Filter>>;
  readonly orders: Readonly<Record<string, Order>>;
  present(row: Json): Json;
}

const COMMON = ['Id', 'OwnerId', 'Description', 'CreatedDate', 'LastModifiedDate', 'LastActivityDate', 'IsDeleted'];
const ORDERS = {
  created_at: { field: 'CreatedDate' },
  updated_at: { field: 'LastModifiedDate' },
  name: { field: 'Name', isText: true },
  last_activity_at: { field: 'LastActivityDate' },
} as const;
const OWNER = { owner_id: { field: 'OwnerId', match: 'is' } } as const;
const NAME = { name: { field: 'Name', match: 'has' } } as const;

export const CRM_KINDS: Readonly<Record<'accounts' | 'leads' | 'contacts' | 'opportunities', CrmKind>> = {
  accounts: {
    object: 'Account',
    fields: [
      ...COMMON,
      'Name',
      'Industry',
      'Website',
      'NumberOfEmployees',
      'BillingAddress',
      'ShippingAddress',
      'Phone',
      'Fax',
    ],
    filters: { ...OWNER, ...NAME },
    orders: { ...ORDERS, number_of_employees: { field: 'NumberOfEmployees' } },
    present: (row) => ({
      id: asText(row['Id']) ?? '',
      owner: ownerOf(row),
      name: asText(row['Name']),
      description: asText(row['Description']),
      industry: asText(row['Industry']),
      website: asText(row['Website']),
      number_of_employees: numberOf(row['NumberOfEmployees']),
      addresses: [...addressOf(row['BillingAddress'], 'BILLING'), ...addressOf(row['ShippingAddress'], 'SHIPPING')],
      phone_numbers: phonesOf(row, PHONE),
      ...activity(row),
      ...times(row),
    }),
  },
  leads: {
    object: 'Lead',
    fields: [
      ...[
        ...COMMON,
        // For pages in order of the name, which continue after the name of the last record.
        'Name',
        'LeadSource',
        'Status',
        'Title',
        'Company',
        'FirstName',
        'LastName',
        'Address',
        'Phone',
        'MobilePhone',
      ],
      ...['Fax', 'Email', 'ConvertedDate', 'ConvertedAccountId', 'ConvertedContactId'],
    ],
    filters: {
      ...OWNER,
      ...NAME,
      converted_account_id: { field: 'ConvertedAccountId', match: 'is' },
      converted_contact_id: { field: 'ConvertedContactId', match: 'is' },
    },
    orders: ORDERS,
    present: (row) => ({
      id: asText(row['Id']) ?? '',
      owner: ownerOf(row),
      source: asText(row['LeadSource']),
      status: asText(row['Status']),
      title: asText(row['Title']),
      company: asText(row['Company']),
      first_name: asText(row['FirstName']),
      last_name: asText(row['LastName']),
      description: asText(row['Description']),
      addresses: addressOf(row['Address'], null),
      phone_numbers: phonesOf(row, PERSON_PHONE),
      emails: emailsOf(row),
      converted_at: asText(row['ConvertedDate']),
      converted_account: partOf(row['ConvertedAccountId']),
      converted_contact: partOf(row['ConvertedContactId']),
      ...activity(row),
      ...times(row),
    }),
  },
  contacts: {
    object: 'Contact',
    fields: [
      ...[...COMMON, 'Name', 'FirstName', 'LastName', 'Title', 'Department', 'AccountId', 'MailingAddress'],
      ...['OtherAddress', 'Phone', 'MobilePhone', 'HomePhone', 'OtherPhone', 'Fax', 'Email'],
    ],
    filters: { ...OWNER, ...NAME, account_id: { field: 'AccountId', match: 'is' } },
    orders: { ...ORDERS, title: { field: 'Title', isText: true } },
    present: (row) => ({
      id: asText(row['Id']) ?? '',
      owner: ownerOf(row),
      first_name: asText(row['FirstName']),
      last_name: asText(row['LastName']),
      name: asText(row['Name']),
      description: asText(row['Description']),
      title: asText(row['Title']),
      department: asText(row['Department']),
      addresses: [...addressOf(row['MailingAddress'], 'MAILING'), ...addressOf(row['OtherAddress'], 'OTHER')],
      phone_numbers: phonesOf(row, PERSON_PHONE),
      emails: emailsOf(row),
      account: partOf(row['AccountId']),
      ...activity(row),
      ...times(row),
    }),
  },
  opportunities: {
    object: 'Opportunity',
    fields: [...COMMON, 'Name', 'Amount', 'AccountId', 'ContactId', 'StageName', 'IsClosed', 'IsWon', 'CloseDate'],
    filters: {
      ...OWNER,
      account_id: { field: 'AccountId', match: 'is' },
      stage: { field: 'StageName', match: 'is' },
      status: { match: (status) => (status === 'WON' ? 'IsWon = true' : 'IsClosed = false') },
    },
    orders: { ...ORDERS, amount: { field: 'Amount' }, close_date: { field: 'CloseDate' } },
    present: (row) => ({
      id: asText(row['Id']) ?? '',
      owner: ownerOf(row),
      name: asText(row['Name']),
      description: asText(row['Description']),
      amount: numberOf(row['Amount']),
      account: partOf(row['AccountId']),
      contact: partOf(row['ContactId']),
      stage: asText(row['StageName']),
      // A lost opportunity is neither won nor open.
      status: row['IsWon'] === true ? 'WON' : row['IsClosed'] === true ? null : 'OPEN',
      close_date: asText(row['CloseDate']),
      ...activity(row),
      ...times(row),
    }),
  },
};
