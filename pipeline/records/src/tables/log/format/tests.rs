use super::*;

/// Returns a format's fields as text: the kind, the class, the name and the literal.
fn shown(text: &str) -> Result<String, String> {
    LogFormat::parse(text).map(|format| {
        let start = String::from_utf8(format.start).unwrap();
        let fields = format.fields.into_iter().map(|field| {
            let kind = if field.kind == FieldKind::Other { String::new() } else { format!("{:?}", field.kind) };
            format!("<{} {kind}>{}", field.name, String::from_utf8(field.literal).unwrap())
        });
        let escape = if format.escape == Escape::None { "unescaped: " } else { "" };
        format!("{escape}{start}{}", fields.collect::<String>())
    })
}

#[test]
fn strings_and_directives_of_both_servers_are_understood() {
    let host = r#"<$host Host(Checked)> "<$request Request>""#;
    let apache = r#"<%V Host(Checked)> "<%r Request>""#;
    let cases = [
        (r#"$host "$request""#, host),
        (r#"${host} "${request}""#, host),
        (r#"  $host \"$request\"  "#, host),
        (r#"log_format x '$host "$request"';"#, host),
        (r#"log_format x $host ' ' '"$request"';"#, host),
        ("log_format x\n  # the host\n  '$host '\n\t\"\\\"$request\\\"\";\nserver {}", host),
        (r#"'$host ' '"$request"'"#, host),
        (r#"log_format x escape=default '$host "$request"';"#, host),
        (r#"escape=none '$host "$request"'"#, r#"unescaped: <$host Host(Checked)> "<$request Request>""#),
        (
            r#"log_format j escape=json '{"h":"$host",' '"u":"$request_uri"}';"#,
            r#"{"h":"<$host Host(Checked)>","u":"<$request_uri Target>"}"#,
        ),
        (
            r#""$request_method $scheme://$host$request_uri $server_protocol""#,
            r#""<$request_method > <$scheme Scheme>://<$host$request_uri HostAndTarget(Checked)> <$server_protocol >""#,
        ),
        ("$host:$server_port $request_uri", "<$host:$server_port HostAndPort(Checked)> <$request_uri Target>"),
        ("$host $server_port $request_uri", "<$host Host(Checked)> <$server_port Port> <$request_uri Target>"),
        ("$host:$server_port$request_uri", "<$host:$server_port$request_uri HostAndTarget(Checked)>"),
        ("$server_name$host $request_uri", "<$server_name$host > <$request_uri Target>"),
        (r#"%V "%r""#, apache),
        (r#"LogFormat "%V \"%r\"" with_host"#, apache),
        (r#"logformat '%V "%r"'"#, apache),
        ("LogFormat \"%V \\\n\\\"%r\\\"\" x", apache),
        (
            r#"%v:%p %t "%!200,304r" %>s %{Host}i 100%% %{ms}T%{c}a"#,
            r#"<%v:%p HostAndPort(Configured)> [<%t Time>] "<%!200,304r Request>" <%>s Status> <%{Host}i Host(Header)> 100% <%{ms}T%{c}a >"#,
        ),
        (
            "$remote_addr $realip_remote_addr $http_x_real_ip $status $request",
            "<$remote_addr Client> <$realip_remote_addr > <$http_x_real_ip > <$status Status> <$request Request>",
        ),
        (
            "%h %a %{c}a %{X-Forwarded-For}i %s %{x}s %r",
            "<%h Client> <%a Client> <%{c}a > <%{X-Forwarded-For}i > <%s Status> <%{x}s > <%r Request>",
        ),
        ("%m %U%q %^FB %{remote}p %{%s}t", "<%m > <%U%q PathAndQuery> <%^FB > <%{remote}p > <%{%s}t Time>"),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text).as_deref(), Ok(expected), "{text}");
    }
    for (name, _) in NAMED {
        assert!(shown(name).is_ok(), "{name}");
    }
}

#[test]
fn the_operators_name_is_the_host() {
    for (text, expected) in [
        ("$http_host $host $server_name $request_uri", Some("$server_name")),
        ("$http_host $host $request_uri", Some("$host")),
        ("$http_host $request_uri", Some("$http_host")),
        ("%{Host}i %V %v %r", Some("%v")),
        ("%{host}i %V %r", Some("%V")),
        ("%{HOST}i %r", Some("%{HOST}i")),
        ("$proxy_host $hostname $upstream_addr $request", None),
        ("%{X-Forwarded-Host}i %A %r", None),
    ] {
        let format = LogFormat::parse(text).unwrap();
        assert_eq!(format.host().map(|place| &*format.fields[place].name), expected, "{text}");
    }
}

#[test]
fn other_text_is_refused() {
    for (text, expected) in [
        ("", "expected nginx's or Apache's variables"),
        ("comman", "common, combined, vhost_combined, main"),
        ("100% $5", "expected nginx's or Apache's variables"),
        ("$host %r", "both nginx and Apache"),
        ("$host $uri", "has no request"),
        ("$host $uri$is_args$args", "has no request"),
        ("$http_host$request_uri", "has no request"),
        ("%v %U", "has no request"),
        ("%v %U %q", "has no request"),
        ("$host ${request", "expected } after ${request"),
        ("$request $", "expected a variable's name"),
        ("log_format x '$request", "expected a closing '"),
        ("log_format x escape=xml '$request';", "escape=xml: expected default, json or none"),
        ("log_format", "has no request"),
        ("LogFormat %r", "expected a quoted format"),
        ("LogFormat \"%r", "expected a closing \""),
        ("%r %{Host", "expected } after %{Host"),
        ("%r %>", "expected a field's letter after %>"),
        ("%r %é", "expected a field's letter after %"),
    ] {
        let message = shown(text).unwrap_err();
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn formats_are_limited() {
    let with_fields = |count: usize| "$request".to_owned() + &" $x".repeat(count - 1);
    let with_bytes = |count: usize| format!("{:x<count$}", "$request ");
    for (text, is_ok) in [
        (with_fields(MAX_FORMAT_FIELDS - 1), true),
        (with_fields(MAX_FORMAT_FIELDS), true),
        (with_fields(MAX_FORMAT_FIELDS + 1), false),
        (with_bytes(MAX_FORMAT_BYTES - 1), true),
        (with_bytes(MAX_FORMAT_BYTES), true),
        (with_bytes(MAX_FORMAT_BYTES + 1), false),
    ] {
        assert_eq!(LogFormat::parse(&text).is_ok(), is_ok, "{} bytes", text.len());
    }
}
