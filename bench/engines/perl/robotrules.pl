#!/usr/bin/perl
# An engine: WWW::RobotRules, the rules of LWP::RobotUA (https://metacpan.org/pod/WWW::RobotRules), which parses a file
# for one crawler. It implements the protocol in bench/judge/PROTOCOL.md in a single file, as a template for other
# languages.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
use URI;
use WWW::RobotRules;

# Minimum duration of a sample in nanoseconds.
use constant SAMPLE_NS => 1_000_000;

# slot => { origin, body, rules }, with the parsed rules for each requested crawler.
my %slots;

# Returns the next message's fields as a list of [key, value], or undef at the end of the input.
sub read_message {
    my @fields;
    while (defined(my $line = <STDIN>)) {
        return \@fields if $line eq "\n";
        my ($key, $length, $value) = $line =~ /^([a-z0-9_-]+):([0-9]{1,8}):(.*)\z/s or die "expected key:length:value\n";
        # The line may end within the value, which may contain newlines.
        my $missing = $length + 1 - length $value;
        while ($missing > 0) {
            my $got = read STDIN, $value, $missing, length $value or die "the input ends within a value\n";
            $missing -= $got;
        }
        die "expected $length bytes and a newline after $key\n" if length $value != $length + 1 or chop $value ne "\n";
        push @fields, [$key, $value];
    }
    die "the input ends within a message\n" if @fields;
    return undef;
}

sub write_message {
    print STDOUT map({ "$_->[0]:" . length($_->[1]) . ":$_->[1]\n" } @_), "\n";
}

sub field {
    my ($fields, $key) = @_;
    my ($found) = grep { $_->[0] eq $key } @$fields;
    die "expected a field $key\n" if !$found;
    return $found->[1];
}

# Returns a request's rows: index of the slot field, slot, crawler, URL.
sub rows {
    my ($fields) = @_;
    my ($number, $slot, $agent, @rows) = (0, undef, '');
    for (@$fields) {
        my ($key, $value) = @$_;
        if    ($key eq 'slot')  { ($slot, $number) = ($value, $number + 1) }
        elsif ($key eq 'agent') { $agent = $value }
        elsif ($key eq 'url')   { push @rows, [$number, $slot, $agent, $value] }
    }
    return @rows;
}

sub parse {
    my ($slot, $agent) = @_;
    my $rules = WWW::RobotRules->new($agent);
    $rules->parse("$slot->{origin}/robots.txt", $slot->{body});
    return $rules;
}

sub rules_of {
    my ($slot, $agent) = @_;
    return $slot->{rules}{$agent} //= parse($slot, $agent);
}

# Returns 1 if allowed, 0 if disallowed, -1 without rules for the URL's origin.
sub letter {
    my ($slot, $agent, $url) = @_;
    return 'E' if !$slot;
    my $allowed = eval { rules_of($slot, $agent)->allowed($url) };
    return !defined $allowed ? 'E' : $allowed < 0 ? 'U' : $allowed ? 'A' : 'D';
}

# Returns a function that makes one pass and counts the disallowed rows.
sub pass_of {
    my ($model, @rows) = @_;
    if ($model eq 'one-shot' || $model eq 'parse') {
        my %seen;
        @rows = grep { !$seen{ $_->[0] }++ } @rows if $model eq 'parse';
        my @questions = map { [$slots{ $_->[1] }, @$_[2, 3]] } @rows;
        return sub {
            scalar grep { my $row = $_; my $allowed = eval { parse(@$row[0, 1])->allowed($row->[2]) }; defined $allowed && $allowed == 0 } @questions;
        };
    }
    if ($model eq 'crawl') {
        my %sites = map { $_->{origin} => $_ } values %slots;
        return sub {
            scalar grep {
                my $row = $_;
                my $allowed = eval {
                    my $url  = URI->new($row->[3]);
                    my $site = $sites{ $url->scheme . '://' . $url->authority };
                    $site && rules_of($site, $row->[2])->allowed($url);
                };
                defined $allowed && $allowed eq '0';
            } @rows;
        };
    }
    my @questions = map { [rules_of($slots{ $_->[1] }, $_->[2]), $_->[3]] } @rows;
    return sub {
        scalar grep { my $row = $_; my $allowed = eval { $row->[0]->allowed($row->[1]) }; defined $allowed && $allowed == 0 } @questions;
    };
}

sub now { return int(clock_gettime(CLOCK_MONOTONIC) * 1e9) }

sub samples {
    my ($pass, $is_fresh, $budget) = @_;
    my ($total, @samples) = (0);
    $pass->() if !$is_fresh;
    do {
        my ($start, $passes, $disallowed, $elapsed) = (now(), 0, 0);
        do {
            $disallowed += $pass->();
            $passes++;
            $elapsed = now() - $start;
        } while ($elapsed < SAMPLE_NS && !$is_fresh);
        push @samples, ['sample', "$elapsed $passes $disallowed"];
        $total += $elapsed;
    } while ($total < $budget && !$is_fresh);
    return @samples;
}

my @models = qw(one-shot parse decide fresh crawl);

# The request handlers. Each returns the reply's fields after `is`.
my %answer = (
    hello => sub {
        return (
            ['name', 'WWW::RobotRules'], ['version', $WWW::RobotRules::VERSION], ['dialect', 'koster-1994'],
            ['language', sprintf 'Perl %vd', $^V], map { ['can', $_] } qw(load decide), map { "bench:$_" } @models
        );
    },
    load => sub {
        my ($request) = @_;
        $slots{ field($request, 'slot') } = { origin => field($request, 'origin'), body => field($request, 'body'), rules => {} };
        return;
    },
    clear  => sub { %slots = (); return },
    decide => sub {
        my ($request) = @_;
        return ['verdicts', join '', map { letter($slots{ $_->[1] // '' }, @$_[2, 3]) } rows($request)];
    },
    bench => sub {
        my ($request) = @_;
        my $model = field($request, 'model');
        return undef if !grep { $_ eq $model } @models;
        my @rows = grep { $slots{ $_->[1] // '' } } rows($request);
        return samples(pass_of($model, @rows), $model eq 'fresh', field($request, 'budget'));
    },
);

binmode $_ for \*STDIN, \*STDOUT;
# Unusual input makes the module warn at each row; only its answers matter here.
local $SIG{__WARN__} = sub { };
$| = 1;
while (my $request = read_message()) {
    my $asked = @$request && $request->[0][0] eq 'do' ? $request->[0][1] : '';
    last if $asked eq 'stop';
    my $work  = $answer{$asked} // sub { return undef };
    my @reply = eval { $work->($request) };
    if    ($@)                            { write_message(['is', 'error'], ['why', $@ =~ s/\s+\z//r]) }
    elsif (@reply && !defined $reply[0])  { write_message(['is', 'skip'],  ['why', "not supported: $asked"]) }
    else                                  { write_message(['is', 'ok'],    @reply) }
}
