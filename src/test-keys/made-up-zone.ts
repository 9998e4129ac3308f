/** The whole DNS of the demo: every way in which a mail domain can be right or wrong. Nothing of it is real. */
export const MADE_UP_ZONE = `
; Domains that take mail
northwind-paper.com         MX 10 mx1.northwind-paper.com
                            MX 20 mx2.northwind-paper.com
mx1.northwind-paper.com     A 8.8.8.8
mx2.northwind-paper.com     A 8.8.4.4
gmail.com                   MX 5 gmail-smtp-in.l.google.com
gmail-smtp-in.l.google.com  A 8.8.4.4
outlook.com                 MX 5 outlook-com.olc.protection.outlook.com
outlook-com.olc.protection.outlook.com A 8.8.4.4
*.customers.net             MX 10 mx1.northwind-paper.com

; Domains to be careful with
mailinator.com              MX 10 mx1.northwind-paper.com
gmial.com                   MX 10 mx1.northwind-paper.com
website-only.net            A 8.8.8.8
address-as-host.net         MX 10 8.8.8.8

; Domains that take no mail
parked-names.net            MX 0 .
no-records.net              TXT "nothing here"
inside-only.net             MX 10 mail.inside-only.net
mail.inside-only.net        A 10.0.0.5
left-behind.net             MX 10 gone.left-behind.net

; A look-up that fails
broken-servers.net          !servfail
`;
